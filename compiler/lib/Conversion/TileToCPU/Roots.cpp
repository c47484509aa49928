// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The small operations of a program instance: its place in the grid, assumptions, assertions.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

//===-- program instances
//--------------------------------------------------------------------------------------------===//

static LogicalResult lowerProgramId(KernelLowering &l, Operation *op) {
  l.setScalar(op->getResult(0), l.programId(cast<tile::ProgramIdOp>(op).getAxis()));
  return success();
}

static LogicalResult lowerNumPrograms(KernelLowering &l, Operation *op) {
  l.setScalar(op->getResult(0), l.numPrograms(cast<tile::NumProgramsOp>(op).getAxis()));
  return success();
}

static LogicalResult lowerAssume(KernelLowering &l, Operation *op) {
  auto assume = cast<tile::AssumeOp>(op);
  if (std::optional<uint64_t> equal = assume.getEqual(); equal && !isa<tile::PtrType>(assume.getValue().getType()))
    l.setScalar(op->getResult(0), l.e.intConstant(l.scalar(assume.getValue()).getType(), *equal));
  else
    l.setScalar(op->getResult(0), l.scalar(assume.getValue()));
  return success();
}

static LogicalResult lowerAddPtr(KernelLowering &l, Operation *op) {
  auto add = cast<tile::AddPtrOp>(op);
  if (isa<RankedTensorType>(add.getType())) // Evaluated where it is used.
    return success();
  Value offset = l.scalar(add.getOffset());
  if (offset.getType().getIntOrFloatBitWidth() < 64)
    offset = arith::ExtSIOp::create(l.b, l.e.loc, l.e.i64(), offset);
  Type memory = memoryType(cast<tile::PtrType>(add.getType()).getPointee());
  l.setScalar(op->getResult(0), l.e.address(l.scalar(add.getBase()), Emitter::known(offset), memory));
  return success();
}

/// Notes the first assertion that failed; the program goes on, the launch reports it.
static LogicalResult lowerAssert(KernelLowering &l, Operation *op) {
  Value condition = cast<tile::AssertOp>(op).getCondition();
  Value holds;
  if (auto type = dyn_cast<RankedTensorType>(condition.getType())) {
    int64_t width = KernelLowering::laneDimension(type.getShape()) < 0 ? 1 : l.lanes;
    Type i1 = l.b.getI1Type();
    SmallVector<Value> all{l.e.intConstant(width == 1 ? i1 : Type(l.e.vector(i1, width)), 1)};
    LogicalResult result = l.forEachSegment(
        SmallVector<Index>(type.getShape()), KernelLowering::laneDimension(type.getShape()), condition, all,
        [&](const Segment &segment, Index remaining, SmallVectorImpl<Value> &carried) -> LogicalResult {
          Value value = l.evaluate(condition, segment);
          if (!value)
            return failure();
          if (Value mask = segment.dim < 0 ? Value() : l.e.laneMask(remaining, segment.width))
            value = arith::SelectOp::create(l.b, l.e.loc, mask, value, all[0]);
          carried[0] = arith::AndIOp::create(l.b, l.e.loc, carried[0], value);
          return success();
        });
    if (failed(result))
      return failure();
    holds = width == 1 ? all[0] : Value(vector::ReductionOp::create(l.b, l.e.loc, vector::CombiningKind::AND, all[0]));
  } else {
    holds = l.scalar(condition);
  }
  Value before = l.e.load(l.e.i64(), l.failureSlot());
  Value failedNow = l.e.select(holds, Index(before), l.assertionNumber(op)).value;
  Value isFirst = arith::CmpIOp::create(l.b, l.e.loc, arith::CmpIPredicate::eq, before, l.e.constant(0));
  l.e.store(arith::SelectOp::create(l.b, l.e.loc, isFirst, failedNow, before), l.failureSlot());
  return success();
}

void tilejit::cpu::registerRoots(OpTables &tables) {
  tables.eager[tile::ProgramIdOp::getOperationName()] = lowerProgramId;
  tables.eager[tile::NumProgramsOp::getOperationName()] = lowerNumPrograms;
  tables.eager[tile::AssumeOp::getOperationName()] = lowerAssume;
  tables.eager[tile::AddPtrOp::getOperationName()] = lowerAddPtr;
  tables.eager[tile::AssertOp::getOperationName()] = lowerAssert;
}
