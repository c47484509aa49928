// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Shapes: making tiles from scalars and rearranging their elements.

#ifndef TILEJIT_DIALECT_TILE_IR_TILESHAPEOPS_TD
#define TILEJIT_DIALECT_TILE_IR_TILESHAPEOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilejit/Dialect/Tile/IR/TileAttributes.td"
include "tilejit/Dialect/Tile/IR/TileTypes.td"

class Tile_ShapeOp<string mnemonic, list<Trait> traits = []> : Tile_Op<mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_ShapeOp<"splat"> {
  let summary = "a tile filled with one scalar";
  let description = "```mlir\n%t = tile.splat %x : f32 -> tensor<32x64xf32>\n```";
  let arguments = (ins AnyTypeOf<[Tile_Element, Index]>:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasFolder = 1;
}

def Tile_IotaOp : Tile_ShapeOp<"iota"> {
  let summary = "the numbers 0, 1, 2, ... as a tile of rank 1";
  let description = "```mlir\n%t = tile.iota : tensor<64xi32>\n```";
  let results = (outs Tile_IntTile:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_BroadcastOp : Tile_ShapeOp<"broadcast"> {
  let summary = "repeats a tile along its dimensions of size 1";
  let description = [{
    Operand and result have the same rank; each size is kept, or is 1 in the operand.

    ```mlir
    %t = tile.broadcast %x : tensor<1x64xf32> -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins Tile_AnyTile:$source);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}

def Tile_ExpandOp : Tile_ShapeOp<"expand"> {
  let summary = "inserts a dimension of size 1";
  let description = "```mlir\n%t = tile.expand %x axis 0 : tensor<64xf32> -> tensor<1x64xf32>\n```";
  let arguments = (ins Tile_AnyTile:$source, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$source `axis` $axis attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}

def Tile_ReshapeOp : Tile_ShapeOp<"reshape"> {
  let summary = "the same elements, in row-major order, under another shape";
  let description = "```mlir\n%t = tile.reshape %x : tensor<32x64xf32> -> tensor<2048xf32>\n```";
  let arguments = (ins Tile_AnyTile:$source);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}

def Tile_TransposeOp : Tile_ShapeOp<"transpose"> {
  let summary = "permutes dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand.

    ```mlir
    %t = tile.transpose %x [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_AnyTile:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$source $permutation attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}

def Tile_CatOp : Tile_ShapeOp<"cat"> {
  let summary = "puts tiles side by side along a dimension";
  let description = [{
    ```mlir
    %t = tile.cat %x, %y axis 0 : tensor<32x64xf32>, tensor<16x64xf32> -> tensor<48x64xf32>
    ```
  }];
  let arguments = (ins Variadic<Tile_AnyTile>:$sources, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$sources `axis` $axis attr-dict `:` type($sources) `->` type($result)";
}

def Tile_JoinOp : Tile_ShapeOp<"join", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "pairs the elements of two tiles in a new last dimension of size 2";
  let description = "```mlir\n%t = tile.join %x, %y : tensor<32xf32> -> tensor<32x2xf32>\n```";
  let arguments = (ins Tile_AnyTile:$lhs, Tile_AnyTile:$rhs);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
}

def Tile_SplitOp : Tile_ShapeOp<"split", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "the two halves of a last dimension of size 2";
  let description = "The inverse of `tile.join`.\n\n```mlir\n%x, %y = tile.split %t : tensor<32x2xf32> -> tensor<32xf32>\n```";
  let arguments = (ins Tile_AnyTile:$source);
  let results = (outs Tile_AnyTile:$lhs, Tile_AnyTile:$rhs);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($lhs)";
}

def Tile_ExtractOp : Tile_ShapeOp<"extract"> {
  let summary = "a part of a tile, or one element";
  let description = [{
    The operand is cut into tiles of the result's shape, each of whose sizes divides the operand's; `coordinates` says
    which one, counted in tiles. A scalar result stands for the shape 1x...x1. Coordinates are in range.

    ```mlir
    %t = tile.extract %x[%i, %j] : tensor<32x64xf32> -> tensor<8x64xf32>
    %e = tile.extract %x[%i, %j] : tensor<32x64xf32> -> f32
    ```
  }];
  let arguments = (ins Tile_AnyTile:$source, Variadic<Index>:$coordinates);
  let results = (outs AnyTypeOf<[Tile_AnyTile, Tile_Element, Index]>:$result);
  let assemblyFormat = "$source `[` $coordinates `]` attr-dict `:` type($source) `->` type($result)";
}

def Tile_GatherInTileOp : Tile_ShapeOp<"gather_in_tile", [AllShapesMatch<["indices", "result"]>]> {
  let summary = "picks elements of a tile along a dimension by index";
  let description = [{
    `result[..., i, ...] = source[..., indices[..., i, ...], ...]` at dimension `axis`. All other sizes of source and
    indices are equal; indices are in range, read as unsigned.

    ```mlir
    %t = tile.gather_in_tile %x[%i] axis 0 : tensor<64x8xf32>, tensor<32x8xi32> -> tensor<32x8xf32>
    ```
  }];
  let arguments = (ins Tile_AnyTile:$source, Tile_IntTile:$indices, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` `axis` $axis attr-dict `:` type($source) `,` type($indices) `->` type($result)
  }];
}

#endif // TILEJIT_DIALECT_TILE_IR_TILESHAPEOPS_TD
