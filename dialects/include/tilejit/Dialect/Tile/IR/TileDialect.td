// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tile dialect itself and what every operation of it builds on.

#ifndef TILEJIT_DIALECT_TILE_IR_TILEDIALECT_TD
#define TILEJIT_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilejit::tile";
  let summary = "Kernels on tiles: blocks of tensors that fit on-chip memory";
  let description = [{
    A kernel is one program instance of a grid. It sees *views* of global memory and computes on *tiles*: immutable
    values of builtin tensor type with a static shape. It knows nothing of threads, warps, shared memory or registers;
    the same kernel compiles for every target.

    Elementwise arithmetic, comparison, selection, functions and control flow are upstream's `arith`, `math` and `scf`
    on scalars and tensors; this dialect adds what they lack. Integers are signless; operations that care carry the
    signedness. Unless an operation says otherwise, no rewriting may change a result: `x * 0` is not `0`; contraction
    of a product and a sum to a fused multiply-add is allowed. `math` functions on f32 are within 4 ulp (`exp`, `exp2`,
    `log`, `log2`, `sqrt`, `rsqrt`) or 6 ulp (the others) of the exact value over the whole range.

    Storage: an element of a view has the size of its type rounded up to whole bytes. Boolean and 4-bit operands of the
    operator library are views of `i8`.

    A file may state the dialect version it was written for as the module attribute `tile.version = "1.0"`; a newer
    one than this build's is refused by name.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let extraClassDeclaration = [{
    /// Version of the dialect that this build reads and writes.
    static constexpr int versionMajor = 1, versionMinor = 0;
    /// Module attribute with the version that a file was written for.
    static constexpr ::llvm::StringLiteral versionAttrName = "tile.version";
    /// Argument attribute of a kernel with the operand's name, for messages.
    static constexpr ::llvm::StringLiteral argNameAttrName = "tile.name";

  private:
    void registerTypes();
    void registerAttributes();
    void registerBytecode();

  public:
  }];
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

#endif // TILEJIT_DIALECT_TILE_IR_TILEDIALECT_TD
