// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Contractions: matrix product, reduction, scan.

#ifndef TILEJIT_DIALECT_TILE_IR_TILEMATHOPS_TD
#define TILEJIT_DIALECT_TILE_IR_TILEMATHOPS_TD

include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilejit/Dialect/Tile/IR/TileAttributes.td"
include "tilejit/Dialect/Tile/IR/TileStructureOps.td"
include "tilejit/Dialect/Tile/IR/TileTypes.td"

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product added to an accumulator";
  let description = [{
    `result[m, n] = acc[m, n] + sum over k of a[m, k] * b[k, n]`.

    Floating operands have one element type (f64, f32, f16, bf16 or an 8-bit float; two 8-bit floats may differ) and an
    f32 accumulator (f64 for f64). Products are exact or rounded to the accumulator's type, sums are formed in the
    accumulator's type in an order that the back end fixes; fused multiply-adds are allowed. `precision` other than
    `ieee` needs f32 operands: `tf32` rounds both operands to 11 significant bits (to nearest even); `bf16x3` splits
    each into two bf16 and adds the three larger of the four products.

    Integer operands (i8; i4 extended before) have an i32 accumulator and wrap; `unsigned_a` and `unsigned_b` say that
    an operand's bits are unsigned.

    ```mlir
    %r = tile.dot %a, %b, %c : tensor<32x64xf16>, tensor<64x48xf16>, tensor<32x48xf32>
    %s = tile.dot %u, %v, %w unsigned_a : tensor<32x64xi8>, tensor<64x48xi8>, tensor<32x48xi32>
    ```
  }];
  let arguments = (ins Tile_NumberTile:$a, Tile_NumberTile:$b, Tile_NumberTile:$acc,
                       DefaultValuedAttr<Tile_PrecisionAttr, "::tilejit::tile::Precision::Ieee">:$precision,
                       UnitAttr:$unsigned_a, UnitAttr:$unsigned_b);
  let results = (outs Tile_NumberTile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`precision` `` $precision^)? (`unsigned_a` $unsigned_a^)? (`unsigned_b` $unsigned_b^)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, SameOperandsShape, SingleBlock]> {
  let summary = "combines the elements along one dimension";
  let description = [{
    The region takes two values of each operand's element type (all of the left side, then all of the right) and yields
    their combination; it must be associative and commutative up to rounding, and pure. The results lack dimension
    `axis`. The order of combination is free, and fixed in any one binary.

    ```mlir
    %s = tile.reduce %x axis 1 : tensor<32x64xf32> -> tensor<32xf32> {
    ^bb0(%l: f32, %r: f32):
      %t = arith.addf %l, %r : f32
      tile.yield %t : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_NumberTile>:$inputs, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs Variadic<Tile_NumberTile>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $inputs `axis` $axis attr-dict `:` type($inputs) `->` type($results) $combiner
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [Pure, SameOperandsAndResultShape, SingleBlock]> {
  let summary = "running combination along one dimension";
  let description = [{
    Inclusive scan: element i of the result along `axis` combines elements 0 to i (i to the last one with `reverse`).
    The region is that of `tile.reduce`, except that it need not be commutative: the left side comes earlier in the
    direction of the scan.

    ```mlir
    %s = tile.scan %x axis 0 reverse : tensor<64xf32> -> tensor<64xf32> {
    ^bb0(%l: f32, %r: f32):
      %t = arith.addf %l, %r : f32
      tile.yield %t : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_NumberTile>:$inputs, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
                       UnitAttr:$reverse);
  let results = (outs Variadic<Tile_NumberTile>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $inputs `axis` $axis (`reverse` $reverse^)? attr-dict `:` type($inputs) `->` type($results) $combiner
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // TILEJIT_DIALECT_TILE_IR_TILEMATHOPS_TD
