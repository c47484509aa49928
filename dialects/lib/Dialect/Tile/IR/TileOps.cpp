// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The generated half of the operations. What is written by hand stands beside it, one file for each family.

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilejit::tile;

#define GET_OP_CLASSES
#include "tilejit/Dialect/Tile/IR/TileOps.cpp.inc"
