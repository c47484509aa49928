// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The precisions of tile.dot as products of parts of the operands.

#ifndef TILEJIT_CONVERSION_COMMON_OPERANDPARTS_H
#define TILEJIT_CONVERSION_COMMON_OPERANDPARTS_H

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"

namespace tilejit {

/// Parts that operands are split into: 1, or the two halves of bf16x3 and which of them meet.
struct OperandParts {
  llvm::SmallVector<std::pair<unsigned, unsigned>, 3> products; ///< Part of a, part of b.
  unsigned count = 1;
};
OperandParts operandParts(tile::Precision precision);
/// Part `index` of an operand, a vector of f32: itself, rounded to tf32, or the high or low bf16 half. Other types have
/// one part.
mlir::Value operandPart(mlir::OpBuilder &b, mlir::Location loc, tile::Precision precision, unsigned index,
                        mlir::Value value);

} // namespace tilejit

#endif // TILEJIT_CONVERSION_COMMON_OPERANDPARTS_H
