// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tile dialect's conversions as lazy values.

#include "KernelLowering.h"

#include "../Common/NumberConversions.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

static SmallVector<Segment, 3> sameSegment(KernelLowering &, Operation *, const Segment &segment) { return {segment}; }

static Value operandOf(KernelLowering &l, Operation *op, ArrayRef<Value> tiles) {
  return tiles.empty() ? l.scalar(op->getOperand(0)) : tiles[0];
}

static Value combineFpToFp(KernelLowering &l, Operation *op, const Segment &, ArrayRef<Value> tiles) {
  return convertFloat(l.b, l.e.loc, cast<tile::FpToFpOp>(op), operandOf(l, op, tiles));
}

static Value combineFpToInt(KernelLowering &l, Operation *op, const Segment &, ArrayRef<Value> tiles) {
  return convertToInteger(l.b, l.e.loc, cast<tile::FpToIntOp>(op), operandOf(l, op, tiles));
}

void tilejit::cpu::registerLazyConversions(OpTables &tables) {
  tables.lazy[tile::FpToFpOp::getOperationName()] = {sameSegment, combineFpToFp};
  tables.lazy[tile::FpToIntOp::getOperationName()] = {sameSegment, combineFpToInt};
}
