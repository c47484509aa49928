// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tiles in on-chip memory.

#ifndef TILEJIT_DIALECT_TILEGPU_IR_TILEGPUTYPES_TD
#define TILEJIT_DIALECT_TILEGPU_IR_TILEGPUTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "tilejit/Dialect/TileGPU/IR/TileGPUAttributes.td"

def TileGPU_SharedType : TypeDef<TileGPU_Dialect, "Shared"> {
  let mnemonic = "shared";
  let summary = "a tile in the on-chip memory of a block";
  let description = [{
    Unlike a tensor it is a place, not a value: operations write and read it. Elements take whole bytes: 1 for booleans
    and numbers of up to 8 bits.

    ```mlir
    !tilegpu.shared<4x8xf32, #tilegpu.memory<[4, 8], offsets = [1, 2, 4, 9, 18]>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        "::tilejit::tilegpu::MemoryAttr":$memory);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of one element.
    int64_t elementBytes() const;
    /// Bytes of all.
    int64_t bytes() const;
  }];
}

#endif // TILEJIT_DIALECT_TILEGPU_IR_TILEGPUTYPES_TD
