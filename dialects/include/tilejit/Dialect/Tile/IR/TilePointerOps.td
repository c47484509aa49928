// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Pointer tiles: gathers, scatters and atomics at computed addresses.

#ifndef TILEJIT_DIALECT_TILE_IR_TILEPOINTEROPS_TD
#define TILEJIT_DIALECT_TILE_IR_TILEPOINTEROPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilejit/Dialect/Tile/IR/TileAttributes.td"
include "tilejit/Dialect/Tile/IR/TileTypes.td"

/// A mask has the shape of the pointers; the text form doesn't repeat its type.
def Tile_MaskOfPointers : OptionalTypesMatchWith<"the mask is a tile of i1 of the pointers' shape", "pointers", "mask",
    "::llvm::cast<::mlir::RankedTensorType>($_self).clone(::mlir::IntegerType::get($_self.getContext(), 1))">;

def Tile_AddPtrOp : Tile_Op<"addptr", [Pure, AllTypesMatch<["base", "result"]>]> {
  let summary = "pointers moved by a number of elements";
  let description = [{
    Adds signed offsets, counted in elements of the pointee. Both operands are scalars, or both are tiles of one shape.
    The sum is formed in 64 bits.

    ```mlir
    %q = tile.addptr %p, %o : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    ```
  }];
  let arguments = (ins Tile_PtrLike:$base, Tile_IntLike:$offset);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$base `,` $offset attr-dict `:` qualified(type($base)) `,` type($offset)";
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [MemoryEffects<[MemRead]>, AttrSizedOperandSegments, Tile_MaskOfPointers,
    OptionalTypesMatchWith<"'other' has the result's type", "result", "other", "$_self">]> {
  let summary = "loads through a tile of pointers";
  let description = [{
    Element i is what pointer i points to where `mask` is true (or absent), else element i of `other` (unspecified
    without one). No access happens where the mask is false.

    ```mlir
    %x = tile.gather %p mask %m other %o : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Arg<Tile_PtrTile, "", [MemRead]>:$pointers, Optional<Tile_MaskTile>:$mask,
                       Optional<Tile_NumberTile>:$other);
  let results = (outs Tile_NumberTile:$result);
  let assemblyFormat = [{
    $pointers (`mask` $mask^)? (`other` $other^)? attr-dict `:` type($pointers) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScatterOp : Tile_Op<"scatter", [MemoryEffects<[MemWrite]>, Tile_MaskOfPointers]> {
  let summary = "stores through a tile of pointers";
  let description = [{
    Writes element i to pointer i where `mask` is true (or absent). Where several elements go to one address, which one
    stays is unspecified.

    ```mlir
    tile.scatter %x, %p mask %m : tensor<64xf32>, tensor<64x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_NumberTile:$value, Arg<Tile_PtrTile, "", [MemWrite]>:$pointers,
                       Optional<Tile_MaskTile>:$mask);
  let assemblyFormat = [{
    $value `,` $pointers (`mask` $mask^)? attr-dict `:` type($value) `,` type($pointers)
  }];
  let hasVerifier = 1;
}

def Tile_AtomicRmwOp : Tile_Op<"atomic_rmw", [MemoryEffects<[MemRead, MemWrite]>, Tile_MaskOfPointers,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "atomic update through a tile of pointers";
  let description = [{
    For each element where `mask` is true (or absent): `*p = kind(*p, value)`; the result holds the previous values
    (unspecified where the mask is false).

    ```mlir
    %old = tile.atomic_rmw addi %x, %p mask %m relaxed device : tensor<64xi32>, tensor<64x!tile.ptr<i32>>
    ```
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_NumberTile:$value,
                       Arg<Tile_PtrTile, "", [MemRead, MemWrite]>:$pointers, Optional<Tile_MaskTile>:$mask,
                       Tile_MemoryOrderAttr:$order, Tile_MemoryScopeAttr:$scope);
  let results = (outs Tile_NumberTile:$result);
  let assemblyFormat = [{
    `` $kind $value `,` $pointers (`mask` $mask^)? `` $order `` $scope attr-dict
    `:` type($value) `,` type($pointers)
  }];
  let hasVerifier = 1;
}

def Tile_AtomicCasOp : Tile_Op<"atomic_cas", [MemoryEffects<[MemRead, MemWrite]>,
    AllTypesMatch<["expected", "desired", "result"]>]> {
  let summary = "atomic compare and exchange through a tile of pointers";
  let description = [{
    For each element: where `*p == expected` (as bits), `*p = desired`. Gives the previous values.

    ```mlir
    %old = tile.atomic_cas %e, %d, %p acq_rel device : tensor<64xi32>, tensor<64x!tile.ptr<i32>>
    ```
  }];
  let arguments = (ins Tile_NumberTile:$expected, Tile_NumberTile:$desired,
                       Arg<Tile_PtrTile, "", [MemRead, MemWrite]>:$pointers, Tile_MemoryOrderAttr:$order,
                       Tile_MemoryScopeAttr:$scope);
  let results = (outs Tile_NumberTile:$result);
  let assemblyFormat = [{
    $expected `,` $desired `,` $pointers `` $order `` $scope attr-dict `:` type($expected) `,` type($pointers)
  }];
  let hasVerifier = 1;
}

#endif // TILEJIT_DIALECT_TILE_IR_TILEPOINTEROPS_TD
