// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Layouts: where the elements of a tile lie, in registers and in on-chip memory.

#ifndef TILEJIT_DIALECT_TILEGPU_IR_TILEGPUATTRIBUTES_TD
#define TILEJIT_DIALECT_TILEGPU_IR_TILEGPUATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "tilejit/Dialect/TileGPU/IR/TileGPUDialect.td"

def TileGPU_LayoutAttr : AttrDef<TileGPU_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "which register of which lane of which warp holds which element of a tile";
  let description = [{
    A linear map over GF(2) from the bits of (register, lane, warp) to the elements of a tile whose sides are rounded up
    to powers of two (`shape`). An element is a number: its row-major index in that shape. `registers`, `lanes` and
    `warps` list, for each bit of the location from the lowest on, what the bit adds (xor) to the number; 0 means that
    the bit makes a copy. Registers hold no copies: their numbers are linearly independent.

    Elements outside of the tile's own shape, where that is no power of two, have unspecified values.

    ```mlir
    #tilegpu.layout<[32, 64], registers = [1, 2], lanes = [4, 8, 16, 32, 64], warps = [128, 256, 512, 1024]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, OptionalArrayRefParameter<"int64_t">:$registers,
                        OptionalArrayRefParameter<"int64_t">:$lanes, OptionalArrayRefParameter<"int64_t">:$warps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Registers of one thread.
    int64_t numRegisters() const { return int64_t{1} << getRegisters().size(); }
    /// The element in register `index` of thread 0.
    int64_t elementOfRegister(int64_t index) const;
    /// The same map as an object that can be calculated with.
    LinearLayout toLinear() const;
    /// How many bits of an element's number lie below its coordinate along a dimension.
    int shiftOf(int dim) const;
    /// The coordinate of an element along a dimension.
    int64_t coordinateOf(int64_t element, int dim) const;
    /// What each bit of a thread's number (lanes, then warps) adds to the element.
    ::llvm::SmallVector<int64_t> threadColumns() const;
    /// Bits of (lane, warp) that make copies, warps above lanes: set bits name them.
    int64_t copyBits() const;
  }];
}

def TileGPU_MemoryAttr : AttrDef<TileGPU_Dialect, "Memory"> {
  let mnemonic = "memory";
  let summary = "which element of a tile lies at which place of on-chip memory";
  let description = [{
    A linear map over GF(2) from the bits of an offset, counted in elements, to the elements of a tile of `shape` (powers
    of two; numbered as in `#tilegpu.layout`). It is a bijection: swizzles are the ones that are not the identity.

    ```mlir
    #tilegpu.memory<[4, 8], offsets = [1, 2, 4, 9, 18]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, OptionalArrayRefParameter<"int64_t">:$offsets);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// For each bit of an element's number, what it adds to the offset: the inverse map.
    ::llvm::SmallVector<int64_t> offsetOfElementBits() const;
    /// The same map as an object that can be calculated with.
    LinearLayout toLinear() const;
  }];
}

#endif // TILEJIT_DIALECT_TILEGPU_IR_TILEGPUATTRIBUTES_TD
