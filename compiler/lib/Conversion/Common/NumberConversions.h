// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What tile.fp_to_fp and tile.fp_to_int do to a scalar or to each lane of a vector, in terms of arith.

#ifndef TILEJIT_CONVERSION_COMMON_NUMBERCONVERSIONS_H
#define TILEJIT_CONVERSION_COMMON_NUMBERCONVERSIONS_H

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"

namespace tilejit {

/// The operand as the result's element type.
mlir::Value convertFloat(mlir::OpBuilder &b, mlir::Location loc, tile::FpToFpOp convert, mlir::Value operand);
/// The same for integers; an index is an i64.
mlir::Value convertToInteger(mlir::OpBuilder &b, mlir::Location loc, tile::FpToIntOp convert, mlir::Value operand);

} // namespace tilejit

#endif // TILEJIT_CONVERSION_COMMON_NUMBERCONVERSIONS_H
