// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Debugging: assertions and printing from a kernel.

#ifndef TILEJIT_DIALECT_TILE_IR_TILEDEBUGOPS_TD
#define TILEJIT_DIALECT_TILE_IR_TILEDEBUGOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilejit/Dialect/Tile/IR/TileAttributes.td"
include "tilejit/Dialect/Tile/IR/TileTypes.td"

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "ends the launch with an error where a condition is false";
  let description = [{
    The condition is an i1, or a tile of them that must all be true. The launch reports the message and the place of the
    operation; what other program instances have stored by then is unspecified.

    ```mlir
    tile.assert %c, "index out of range" : i1
    ```
  }];
  let arguments = (ins AnyTypeOf<[I1, Tile_MaskTile]>:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "prints a text and values, for debugging";
  let description = [{
    One line on standard error for each program instance: the text, then the values. Order between instances is
    unspecified. Tiles print their first and last three elements in row-major order; of i1, true is 1. A GPU's lines
    come after its kernel has ended; it has room for a limited number, and the rest is counted.

    ```mlir
    tile.print "acc", %t : tensor<32xf32>
    ```
  }];
  let arguments = (ins StrAttr:$text, Variadic<AnyTypeOf<[Tile_NumberTile, Tile_Number, Index]>>:$values);
  let assemblyFormat = "$text (`,` $values^ `:` type($values))? attr-dict";
}

#endif // TILEJIT_DIALECT_TILE_IR_TILEDEBUGOPS_TD
