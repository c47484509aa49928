// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operations on layouts and on-chip memory.

#ifndef TILEJIT_DIALECT_TILEGPU_IR_TILEGPUOPS_TD
#define TILEJIT_DIALECT_TILEGPU_IR_TILEGPUOPS_TD

include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilejit/Dialect/TileGPU/IR/TileGPUTypes.td"

def TileGPU_OnChip : Resource<"::tilejit::tilegpu::OnChipResource">;

/// A tile with a layout.
def TileGPU_Tile : Type<
    CPred<"::llvm::isa<::mlir::RankedTensorType>($_self) && "
          "::llvm::isa_and_nonnull<::tilejit::tilegpu::LayoutAttr>("
          "::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding())">,
    "a tile with a layout", "::mlir::RankedTensorType">;

def TileGPU_ConvertLayoutOp : TileGPU_Op<"convert_layout", [Pure]> {
  let summary = "the same tile in other registers";
  let description = [{
    Shape and element type are kept. How the elements move (not at all, within each thread, between the lanes of a warp,
    through on-chip memory) follows from the two layouts.

    ```mlir
    %y = tilegpu.convert_layout %x
      : tensor<64xf32, #tilegpu.layout<[64], registers = [1], lanes = [2, 4, 8, 16, 32]>>
      -> tensor<64xf32, #tilegpu.layout<[64], registers = [32], lanes = [1, 2, 4, 8, 16]>>
    ```
  }];
  let arguments = (ins TileGPU_Tile:$source);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TileGPU_ReduceInWarpsOp : TileGPU_Op<"reduce_in_warps", [Pure, SingleBlock]> {
  let summary = "combines the elements along one dimension, each warp on its own";
  let description = [{
    Like `tile.reduce`, but the results keep dimension `axis`, with one element for each share that a warp has of it.
    The highest bits of that dimension are bits of the warp, and only they: share i holds the elements from i times the
    share's size on. The result's layout is the operand's with every other bit of the dimension made a copy.

    ```mlir
    %s = tilegpu.reduce_in_warps %x axis 0
      : tensor<64xf32, #tilegpu.layout<[64], lanes = [1, 2, 4, 8, 16], warps = [32]>>
      -> tensor<2xf32, #tilegpu.layout<[2], lanes = [0, 0, 0, 0, 0], warps = [1]>> {
    ^bb0(%l: f32, %r: f32):
      %t = arith.addf %l, %r : f32
      tilegpu.yield %t : f32
    }
    ```
  }];
  let arguments = (ins Variadic<TileGPU_Tile>:$inputs, I64Attr:$axis);
  let results = (outs Variadic<TileGPU_Tile>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` type($inputs) `->` type($results) $combiner";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TileGPU_YieldOp : TileGPU_Op<"yield", [Pure, ReturnLike, Terminator, HasParent<"ReduceInWarpsOp">]> {
  let summary = "gives the values of a combining region";
  let description = "Ends the region of `tilegpu.reduce_in_warps` with one value for each operand.";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def TileGPU_SharedAllocOp : TileGPU_Op<"shared_alloc", [MemoryEffects<[MemAlloc<TileGPU_OnChip>]>]> {
  let summary = "a place for a tile in on-chip memory";
  let description = [{
    Lives from its first write to its last read; places whose lives do not overlap may share memory. `offset`, in bytes
    from the start of the block's memory and a multiple of 16, is given by the pass that plans it. Contents are undefined
    at first.

    ```mlir
    %s = tilegpu.shared_alloc : !tilegpu.shared<2x4xf32, #tilegpu.memory<[2, 4], offsets = [1, 2, 4]>>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs TileGPU_SharedType:$result);
  let assemblyFormat = "(`offset` $offset^)? attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def TileGPU_SharedStoreOp : TileGPU_Op<"shared_store", [MemoryEffects<[MemWrite<TileGPU_OnChip>]>]> {
  let summary = "writes a tile to on-chip memory";
  let description = [{
    Of copies of an element one is written. The place's shape is the tile's, or another one of as many elements (sides
    rounded up): then elements keep their row-major numbers.

    ```mlir
    tilegpu.shared_store %x, %s
      : tensor<2x4xf32, #tilegpu.layout<[2, 4], lanes = [1, 2, 4, 0, 0]>>,
        !tilegpu.shared<2x4xf32, #tilegpu.memory<[2, 4], offsets = [1, 2, 4]>>
    ```
  }];
  let arguments = (ins TileGPU_Tile:$value, TileGPU_SharedType:$place);
  let assemblyFormat = "$value `,` $place attr-dict `:` type($value) `,` qualified(type($place))";
  let hasVerifier = 1;
}

def TileGPU_SharedLoadOp : TileGPU_Op<"shared_load", [MemoryEffects<[MemRead<TileGPU_OnChip>]>]> {
  let summary = "reads a tile, or a part of it, from on-chip memory";
  let description = [{
    The place is cut into tiles of the result's shape, each of whose sides (rounded up to a power of two) divides the
    place's; `coordinates` says which one, counted in tiles.

    ```mlir
    %x = tilegpu.shared_load %s[%i, %k]
      : !tilegpu.shared<2x4xf32, #tilegpu.memory<[2, 4], offsets = [1, 2, 4]>>
      -> tensor<2x2xf32, #tilegpu.layout<[2, 2], lanes = [1, 2, 0, 0, 0]>>
    ```
  }];
  let arguments = (ins TileGPU_SharedType:$place, Variadic<Index>:$coordinates);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = "$place `[` $coordinates `]` attr-dict `:` qualified(type($place)) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_SharedGatherOp : TileGPU_Op<"shared_gather", [MemoryEffects<[MemRead<TileGPU_OnChip>]>]> {
  let summary = "picks elements from on-chip memory along a dimension by index";
  let description = [{
    `result[..., i, ...] = place[..., indices[..., i, ...], ...]` at dimension `axis`. Result and indices have the same
    layout; indices are in range, read as unsigned. With a place of rank 1 result and indices may have any rank: each
    index is the number of an element.

    ```mlir
    %x = tilegpu.shared_gather %s[%i] axis 0
      : !tilegpu.shared<4xf32, #tilegpu.memory<[4], offsets = [1, 2]>>,
        tensor<2xi32, #tilegpu.layout<[2], lanes = [1, 0, 0, 0, 0]>>
      -> tensor<2xf32, #tilegpu.layout<[2], lanes = [1, 0, 0, 0, 0]>>
    ```
  }];
  let arguments = (ins TileGPU_SharedType:$place, TileGPU_Tile:$indices, I64Attr:$axis);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $place `[` $indices `]` `axis` $axis attr-dict `:` qualified(type($place)) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGPU_BarrierOp : TileGPU_Op<"barrier", [MemoryEffects<[MemRead<TileGPU_OnChip>, MemWrite<TileGPU_OnChip>]>]> {
  let summary = "all threads of the block wait for each other";
  let description = "What was written to on-chip memory before it can be read after it.\n\n```mlir\ntilegpu.barrier\n```";
  let assemblyFormat = "attr-dict";
}

#endif // TILEJIT_DIALECT_TILEGPU_IR_TILEGPUOPS_TD
