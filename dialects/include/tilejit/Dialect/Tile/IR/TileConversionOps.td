// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions that arith lacks: stated rounding and saturation, defined results for what does not fit, sub-byte packing.

#ifndef TILEJIT_DIALECT_TILE_IR_TILECONVERSIONOPS_TD
#define TILEJIT_DIALECT_TILE_IR_TILECONVERSIONOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilejit/Dialect/Tile/IR/TileAttributes.td"
include "tilejit/Dialect/Tile/IR/TileTypes.td"

def Tile_FpToFpOp : Tile_Op<"fp_to_fp", [Pure]> {
  let summary = "converts between floating-point types";
  let description = [{
    One rounding of the exact value. What exceeds the largest finite value after rounding becomes an infinity of the
    sign where the type has infinities, else NaN; with `saturate` it becomes the largest finite value of the sign,
    infinities included. Rounding toward zero never exceeds it. A type without NaN and infinity takes the largest finite
    value for either kind of overflow, and for NaN a zero of the opposite sign. NaN stays NaN in the others (the FNUZ
    types have one NaN and no negative zero: -0 becomes 0). Subnormals are kept. f8E8M0FNU holds powers of two only: ties
    go up, positive numbers below its range give the smallest, zero and negative numbers give NaN.

    ```mlir
    %y = tile.fp_to_fp %x saturate : tensor<64xf32> -> tensor<64xf8E4M3FN>
    ```
  }];
  let arguments = (ins Tile_FloatLike:$source,
                       DefaultValuedAttr<Tile_RoundingAttr, "::tilejit::tile::Rounding::NearestEven">:$rounding,
                       UnitAttr:$saturate);
  let results = (outs Tile_FloatLike:$result);
  let assemblyFormat = [{
    $source (`rounding` `` $rounding^)? (`saturate` $saturate^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_FpToIntOp : Tile_Op<"fp_to_int", [Pure]> {
  let summary = "converts floating-point numbers to integers";
  let description = [{
    Rounds toward zero; what does not fit becomes the nearest value of the integer type (read with `signedness`); NaN
    becomes 0. This is what `arith.fptosi` leaves undefined.

    ```mlir
    %y = tile.fp_to_int %x signed : tensor<64xf32> -> tensor<64xi8>
    ```
  }];
  let arguments = (ins Tile_FloatLike:$source, Tile_SignednessAttr:$signedness);
  let results = (outs Tile_IntLike:$result);
  let assemblyFormat = "$source `` $signedness attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_PackOp : Tile_Op<"pack", [Pure]> {
  let summary = "packs pairs of 4-bit values into bytes";
  let description = [{
    Element i of the last dimension of the result holds element 2i in its low half and 2i+1 in its high half.

    ```mlir
    %y = tile.pack %x : tensor<32x64xi4> -> tensor<32x32xi8>
    ```
  }];
  let arguments = (ins Tile_NumberTile:$source);
  let results = (outs Tile_NumberTile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_UnpackOp : Tile_Op<"unpack", [Pure]> {
  let summary = "unpacks bytes into pairs of 4-bit values";
  let description = "The inverse of `tile.pack`.\n\n```mlir\n%y = tile.unpack %x : tensor<32x32xi8> -> tensor<32x64xi4>\n```";
  let arguments = (ins Tile_NumberTile:$source);
  let results = (outs Tile_NumberTile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // TILEJIT_DIALECT_TILE_IR_TILECONVERSIONOPS_TD
