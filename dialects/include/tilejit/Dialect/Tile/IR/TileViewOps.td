// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Views: making them, their parts and sizes, and moving tiles between them and values.

#ifndef TILEJIT_DIALECT_TILE_IR_TILEVIEWOPS_TD
#define TILEJIT_DIALECT_TILE_IR_TILEVIEWOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilejit/Dialect/Tile/IR/TileAttributes.td"
include "tilejit/Dialect/Tile/IR/TileTypes.td"

def Tile_ViewOp : Tile_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "a view of memory at a pointer";
  let description = [{
    Sizes and strides (in elements) that the result type leaves dynamic are operands, in order. A result type without a
    stride list is dense and takes no stride operands. A pointer to `i8` may also point to raw memory (a workspace): the
    view's elements can then have any type, and the address must be a multiple of their size.

    ```mlir
    %v = tile.view %p sizes [%m] : !tile.ptr<f32> -> !tile.view<?x64xf32>
    %w = tile.view %p sizes [%m, %n] strides [%s] : !tile.ptr<f32> -> !tile.view<?x?xf32, strides = [?, 1]>
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<Index>:$sizes, Variadic<Index>:$strides);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $base (`sizes` `[` $sizes^ `]`)? (`strides` `[` $strides^ `]`)? attr-dict
    `:` qualified(type($base)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_SubviewOp : Tile_Op<"subview", [Pure, AttrSizedOperandSegments]> {
  let summary = "a part of a view";
  let description = [{
    The elements from `offsets` on, `sizes` of them in each dimension (operands for the sizes that the result type
    leaves dynamic, in order). Strides are the source's. The part must lie inside the source.

    ```mlir
    %s = tile.subview %v[%i, %j] sizes [%n] : !tile.view<?x?xf32> -> !tile.view<16x?xf32, strides = [?, 1]>
    ```
  }];
  let arguments = (ins Tile_ViewType:$source, Variadic<Index>:$offsets, Variadic<Index>:$sizes);
  let results = (outs Tile_ViewType:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $source `[` $offsets `]` (`sizes` `[` $sizes^ `]`)? attr-dict
    `:` qualified(type($source)) `->` qualified(type($result))
  }];
}

def Tile_DimOp : Tile_Op<"dim", [Pure]> {
  let summary = "size of a dimension of a view";
  let description = "Folds to a constant for static sizes.\n\n```mlir\n%m = tile.dim %v, 0 : !tile.view<?x64xf32>\n```";
  let arguments = (ins Tile_ViewType:$view, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` qualified(type($view))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_StrideOp : Tile_Op<"stride", [Pure]> {
  let summary = "stride of a dimension of a view, in elements";
  let description = "```mlir\n%s = tile.stride %v, 0 : !tile.view<?x64xf32>\n```";
  let arguments = (ins Tile_ViewType:$view, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` qualified(type($view))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_BaseOp : Tile_Op<"base", [Pure]> {
  let summary = "pointer to element 0 of a view";
  let description = "```mlir\n%p = tile.base %v : !tile.view<?x64xf32> -> !tile.ptr<f32>\n```";
  let arguments = (ins Tile_ViewType:$view);
  let results = (outs Tile_PtrType:$result);
  let assemblyFormat = "$view attr-dict `:` qualified(type($view)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "a tile of a view";
  let description = [{
    The view is cut into tiles of the result's shape; `coordinates` says which one, counted in tiles. Element `e` of
    dimension `d` is the view's element `coordinates[d] * tile size + e`. Elements outside the view have the value of
    `pad`; without one (`none`) all elements must lie inside the view. `lowest` and `highest` are -inf and +inf (the
    extreme finite value where the type has no infinity) or the signed extremes of an integer type; `all_ones` is the
    largest unsigned integer. A type without zero and sign (f8E8M0FNU) has its least number for `zero` and `lowest`.
    Tile and view have the same rank and element type.

    ```mlir
    %t = tile.load %v[%i, %k] pad zero : !tile.view<?x?xf32> -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins Arg<Tile_ViewType, "", [MemRead]>:$view, Variadic<Index>:$coordinates,
                       DefaultValuedAttr<Tile_PadAttr, "::tilejit::tile::Pad::None">:$pad);
  let results = (outs Tile_NumberTile:$result);
  let assemblyFormat = [{
    $view `[` $coordinates `]` (`pad` `` $pad^)? attr-dict `:` qualified(type($view)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile into a view";
  let description = [{
    The counterpart of `tile.load`: elements that lie outside the view are not written.

    ```mlir
    tile.store %t, %v[%i, %j] : tensor<32x64xf32>, !tile.view<?x?xf32>
    ```
  }];
  let arguments = (ins Tile_NumberTile:$value, Arg<Tile_ViewType, "", [MemWrite]>:$view, Variadic<Index>:$coordinates);
  let assemblyFormat = "$value `,` $view `[` $coordinates `]` attr-dict `:` type($value) `,` qualified(type($view))";
  let hasVerifier = 1;
}

def Tile_AtomicOp : Tile_Op<"atomic", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "atomic update of the elements of a view by a tile";
  let description = [{
    For each element of the tile that lies inside the view, in no particular order: `view = kind(view, value)`. The
    previous values are not given back (see `tile.atomic_rmw`).

    ```mlir
    tile.atomic addf %t, %v[%i] relaxed device : tensor<64xf32>, !tile.view<?xf32>
    ```
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_NumberTile:$value,
                       Arg<Tile_ViewType, "", [MemRead, MemWrite]>:$view, Variadic<Index>:$coordinates,
                       Tile_MemoryOrderAttr:$order, Tile_MemoryScopeAttr:$scope);
  let assemblyFormat = [{
    `` $kind $value `,` $view `[` $coordinates `]` `` $order `` $scope attr-dict
    `:` type($value) `,` qualified(type($view))
  }];
  let hasVerifier = 1;
}

def Tile_PrefetchOp : Tile_Op<"prefetch", [MemoryEffects<[MemWrite<Tile_HintResource>]>]> {
  let summary = "announces that a tile of a view will be loaded";
  let description = [{
    Has no visible effect. `shape` is the shape of the tile.

    ```mlir
    tile.prefetch %v[%i, %k] shape [32, 64] : !tile.view<?x?xf32>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$coordinates, DenseI64ArrayAttr:$shape);
  let assemblyFormat = "$view `[` $coordinates `]` `shape` $shape attr-dict `:` qualified(type($view))";
  let hasVerifier = 1;
}

#endif // TILEJIT_DIALECT_TILE_IR_TILEVIEWOPS_TD
