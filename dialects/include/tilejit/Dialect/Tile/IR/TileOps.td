// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// All operations of the dialect, for the generators.

#ifndef TILEJIT_DIALECT_TILE_IR_TILEOPS_TD
#define TILEJIT_DIALECT_TILE_IR_TILEOPS_TD

include "tilejit/Dialect/Tile/IR/TileConversionOps.td"
include "tilejit/Dialect/Tile/IR/TileDebugOps.td"
include "tilejit/Dialect/Tile/IR/TileMathOps.td"
include "tilejit/Dialect/Tile/IR/TilePointerOps.td"
include "tilejit/Dialect/Tile/IR/TileShapeOps.td"
include "tilejit/Dialect/Tile/IR/TileStructureOps.td"
include "tilejit/Dialect/Tile/IR/TileViewOps.td"

#endif // TILEJIT_DIALECT_TILE_IR_TILEOPS_TD
