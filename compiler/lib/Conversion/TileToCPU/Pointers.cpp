// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tiles of pointers: moving them, loading and storing through them. A pointer in a tile is an i64.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

static Type pointeeOf(Value pointers) {
  return cast<tile::PtrType>(getElementTypeOrSelf(pointers.getType())).getPointee();
}

/// Every tile operand at the segment of the result.
static SmallVector<Segment, 3> sameSegments(KernelLowering &, Operation *op, const Segment &segment) {
  SmallVector<Segment, 3> needs;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      needs.push_back(segment);
  return needs;
}

static Value combineAddPtr(KernelLowering &l, Operation *op, const Segment &, ArrayRef<Value> tiles) {
  Value base = tiles[0], offset = tiles[1];
  if (offset.getType() != base.getType())
    offset = arith::ExtSIOp::create(l.b, l.e.loc, base.getType(), offset);
  int64_t bytes = byteSize(memoryType(pointeeOf(op->getResult(0))));
  offset = arith::MulIOp::create(l.b, l.e.loc, offset, l.e.intConstant(base.getType(), bytes));
  return arith::AddIOp::create(l.b, l.e.loc, base, offset);
}

static Value toPointers(KernelLowering &l, Value numbers) {
  Type type = l.e.pointer();
  if (auto vector = dyn_cast<VectorType>(numbers.getType()))
    type = l.e.vector(type, vector.getNumElements());
  return LLVM::IntToPtrOp::create(l.b, l.e.loc, type, numbers);
}

/// The lanes of a segment that belong to the tile and that `mask` (null: all) selects; null for all lanes.
static Value activeLanes(KernelLowering &l, ArrayRef<int64_t> shape, const Segment &segment, Value mask) {
  Value inside = l.e.laneMask(l.e.sub(shape[segment.dim], segment.at[segment.dim]), segment.width);
  return l.e.both(inside, mask);
}

//===-- gather
//-----------------------------------------------------------------------------------------------------===//

static Value combineGather(KernelLowering &l, Operation *op, const Segment &segment, ArrayRef<Value> tiles) {
  auto gather = cast<tile::GatherOp>(op);
  Type element = gather.getType().getElementType(), memory = memoryType(element);
  Value addresses = toPointers(l, tiles[0]);
  Value mask = gather.getMask() ? tiles[1] : Value();
  Value other = gather.getOther() ? l.toMemory(tiles.back(), element) : Value();
  auto nothing = [&] { return l.toMemory(l.padValue(tile::Pad::Zero, element), element); };
  if (segment.dim < 0) {
    if (!mask)
      return l.fromMemory(l.e.load(memory, addresses), element);
    Value address = arith::SelectOp::create(l.b, l.e.loc, mask, addresses, l.scratch());
    Value value = l.e.load(memory, address);
    value = arith::SelectOp::create(l.b, l.e.loc, mask, value, other ? other : nothing());
    return l.fromMemory(value, element);
  }
  mask = activeLanes(l, gather.getType().getShape(), segment, mask);
  if (!other)
    other = l.e.splat(nothing(), segment.width);
  return l.fromMemory(l.e.gather(l.e.vector(memory, segment.width), addresses, mask, other), element);
}

/// Read where it stands: what is stored later must not be seen.
static LogicalResult lowerGather(KernelLowering &l, Operation *op) { return l.materialise(op->getResult(0)); }

//===-- scatter
//----------------------------------------------------------------------------------------------------===//

static LogicalResult lowerScatter(KernelLowering &l, Operation *op) {
  auto scatter = cast<tile::ScatterOp>(op);
  auto type = cast<RankedTensorType>(scatter.getValue().getType());
  int dim = KernelLowering::laneDimension(type.getShape());
  SmallVector<Index> limits(type.getShape());
  SmallVector<Value> nothing, evaluated{scatter.getValue(), scatter.getPointers()};
  if (scatter.getMask())
    evaluated.push_back(scatter.getMask());
  auto body = [&](const Segment &segment, Index, SmallVectorImpl<Value> &) -> LogicalResult {
    Value value = l.evaluate(scatter.getValue(), segment), pointers = l.evaluate(scatter.getPointers(), segment), mask;
    if (scatter.getMask())
      mask = l.evaluate(scatter.getMask(), segment);
    if (!value || !pointers || (scatter.getMask() && !mask))
      return failure();
    value = l.toMemory(value, type.getElementType());
    Value addresses = toPointers(l, pointers);
    if (segment.dim >= 0)
      return l.e.scatter(value, addresses, activeLanes(l, type.getShape(), segment, mask)), success();
    auto write = [&] { return l.e.store(value, addresses), success(); };
    return l.branch(mask, write, nullptr);
  };
  return l.forEachSegment(limits, dim, evaluated, nothing, body);
}

void tilejit::cpu::registerPointers(OpTables &tables) {
  tables.lazy[tile::AddPtrOp::getOperationName()] = {sameSegments, combineAddPtr};
  tables.lazy[tile::GatherOp::getOperationName()] = {sameSegments, combineGather};
  tables.eager[tile::GatherOp::getOperationName()] = lowerGather;
  tables.eager[tile::ScatterOp::getOperationName()] = lowerScatter;
}
