// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tile dialect's conversions, element by element.

#include "KernelEmitter.h"

#include "../Common/NumberConversions.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

static LogicalResult lowerFpToFp(KernelEmitter &e, Operation *op) {
  e.set(op->getResult(0), convertFloat(e.b, e.loc, cast<tile::FpToFpOp>(op), e.get(op->getOperand(0))));
  return success();
}

static LogicalResult lowerFpToInt(KernelEmitter &e, Operation *op) {
  Value number = convertToInteger(e.b, e.loc, cast<tile::FpToIntOp>(op), e.get(op->getOperand(0)));
  e.set(op->getResult(0), number);
  return success();
}

void gpu::registerConversions(LoweringTable &table) {
  table[tile::FpToFpOp::getOperationName()] = lowerFpToFp;
  table[tile::FpToIntOp::getOperationName()] = lowerFpToInt;
}
