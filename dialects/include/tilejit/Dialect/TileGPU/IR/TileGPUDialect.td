// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tilegpu dialect itself and what every operation of it builds on.

#ifndef TILEJIT_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD
#define TILEJIT_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD

include "mlir/IR/OpBase.td"

def TileGPU_Dialect : Dialect {
  let name = "tilegpu";
  let cppNamespace = "::tilejit::tilegpu";
  let summary = "Tiles that lie in the registers of a block of GPU threads";
  let description = [{
    Between the tile dialect and LLVM. A program instance is a block of warps; every tile is a tensor whose encoding, a
    `#tilegpu.layout`, says which register of which lane of which warp holds which element. Operations of `tile`,
    `arith`, `math` and `scf` are kept and work on such tensors; this dialect adds what only exists once layouts do:
    changing them, on-chip memory, and the barrier between its writers and readers.

    It knows neither PTX nor GCN.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Attribute of a kernel: warps of its block.
    static constexpr ::llvm::StringLiteral warpsAttrName = "tilegpu.warps";
    /// Attribute of a kernel: lanes of a warp.
    static constexpr ::llvm::StringLiteral lanesAttrName = "tilegpu.lanes";
    /// Attribute of a kernel: bytes of on-chip memory, once planned.
    static constexpr ::llvm::StringLiteral sharedBytesAttrName = "tilegpu.shared_bytes";
    /// Attribute of a tile.assert: its number among those of the module, of which passes may drop some.
    static constexpr ::llvm::StringLiteral assertionAttrName = "tilegpu.assertion";

  private:
    void registerAttributes();
    void registerTypes();

  public:
  }];
}

class TileGPU_Op<string mnemonic, list<Trait> traits = []> : Op<TileGPU_Dialect, mnemonic, traits>;

#endif // TILEJIT_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD
