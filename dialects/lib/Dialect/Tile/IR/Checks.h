// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Checks that several families of operations share. Private to the dialect's implementation.

#ifndef TILEJIT_DIALECT_TILE_IR_CHECKS_H
#define TILEJIT_DIALECT_TILE_IR_CHECKS_H

#include "tilejit/Dialect/Tile/IR/Tile.h"

namespace tilejit::tile {

/// Checks that an atomic update exists for an element type.
mlir::LogicalResult verifyAtomicKind(mlir::Operation *op, AtomicKind kind, mlir::Type element);

} // namespace tilejit::tile

#endif // TILEJIT_DIALECT_TILE_IR_CHECKS_H
