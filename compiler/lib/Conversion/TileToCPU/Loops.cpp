// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loop nests over the segments of a tile. In each row the segments for which every load is known to lie inside come
// first, without masks; a second loop takes the rest with masks. So there are two copies of a body, never more.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

LogicalResult KernelLowering::loop(Index low, Index high, int64_t step, SmallVectorImpl<Value> &carried,
                                   LoopBody body) {
  if (low.isConstant() && high.isConstant()) {
    if (low.constant >= high.constant)
      return success();
    if (low.constant + step >= high.constant)
      return body(low, carried);
  }
  auto op = scf::ForOp::create(b, e.loc, e.value(low), e.value(high), e.constant(step), carried,
                               [](OpBuilder &, Location, Value, ValueRange) {});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(op.getBody());
    ScopeGuard scope(*this, op.getBody(), op);
    SmallVector<Value> inside(op.getRegionIterArgs());
    if (failed(body(op.getInductionVar(), inside)))
      return failure();
    b.setInsertionPointToEnd(op.getBody());
    scf::YieldOp::create(b, e.loc, inside);
  }
  carried.assign(op.getResults().begin(), op.getResults().end());
  return success();
}

LogicalResult KernelLowering::branch(Value condition, Body then, Body otherwise) {
  if (!condition)
    return then();
  auto op = scf::IfOp::create(b, e.loc, condition, static_cast<bool>(otherwise));
  auto emit = [&](Block *block, Body part) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(block->getTerminator());
    ScopeGuard scope(*this, block, nullptr);
    return part();
  };
  if (failed(emit(op.thenBlock(), then)))
    return failure();
  return otherwise ? emit(op.elseBlock(), otherwise) : success();
}

int KernelLowering::laneDimension(ArrayRef<int64_t> shape) {
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d)
    if (shape[d] > 1)
      return d;
  return -1;
}

Index KernelLowering::uncheckedLimit(const Segment &row, Index limit, ValueRange tiles) {
  Segment start = row;
  start.at[start.dim] = 0;
  SmallVector<Bound> bounds;
  for (Value tile : tiles)
    collectBounds(tile, start, bounds);
  Value condition;
  for (const Bound &bound : bounds) {
    if (bound.hasLanes)
      limit = e.min(limit, bound.lanes);
    condition = e.both(condition, bound.condition);
  }
  return e.select(condition, limit, 0);
}

/// Whether a value is known to be a multiple of a power of two.
static bool isMultiple(Index index, int64_t power, unsigned depth) {
  if (index.constant % power != 0)
    return false;
  if (!index.value || depth > 4)
    return !index.value;
  Operation *op = index.value.getDefiningOp();
  if (!isa_and_nonnull<arith::MinSIOp, arith::MaxSIOp, arith::SelectOp, arith::MulIOp, arith::AddIOp>(op))
    return false;
  auto operands = llvm::map_range(op->getOperands().take_back(2),
                                  [&](Value operand) { return isMultiple(Emitter::known(operand), power, depth + 1); });
  return isa<arith::MulIOp>(op) ? llvm::is_contained(operands, true) : !llvm::is_contained(operands, false);
}

LogicalResult KernelLowering::forEachInRow(Segment row, Index from, Index limit, ValueRange tiles,
                                           SmallVectorImpl<Value> &carried, SegmentBody body, bool elementwise) {
  Index unchecked = uncheckedLimit(row, limit, tiles);
  Index middle = e.add(from, e.roundDown(e.max(e.sub(unchecked, from), 0), row.width));
  row.checked = false;
  if (failed(loop(from, middle, row.width, carried, [&](Index at, SmallVectorImpl<Value> &inside) {
        row.at[row.dim] = at;
        return body(row, row.width, inside);
      })))
    return failure();
  if (isMultiple(limit, row.width, 0) && unchecked == limit && isMultiple(from, row.width, 0))
    return success();
  row.checked = true;
  if (elementwise && !model.masks) {
    int dim = std::exchange(row.dim, -1);
    row.width = 1;
    return loop(middle, limit, 1, carried, [&](Index at, SmallVectorImpl<Value> &inside) {
      row.at[dim] = at;
      return body(row, 1, inside);
    });
  }
  return loop(middle, limit, row.width, carried, [&](Index at, SmallVectorImpl<Value> &inside) {
    row.at[row.dim] = at;
    return body(row, e.sub(limit, at), inside);
  });
}

LogicalResult KernelLowering::forEachSegment(ArrayRef<Index> limits, int dim, ValueRange tiles,
                                             SmallVectorImpl<Value> &carried, SegmentBody body, bool elementwise) {
  Segment segment;
  segment.at.assign(limits.size(), Index(0));
  segment.dim = dim;
  segment.width = dim < 0 ? 1 : lanes;
  // The dimensions around the rows, outermost first.
  std::function<LogicalResult(unsigned, SmallVectorImpl<Value> &)> nest = [&](unsigned d,
                                                                              SmallVectorImpl<Value> &values) {
    if (d == limits.size())
      return dim < 0 ? body(segment, 1, values)
                     : forEachInRow(segment, 0, limits[dim], tiles, values, body, elementwise);
    if (static_cast<int>(d) == dim)
      return nest(d + 1, values);
    return loop(0, limits[d], 1, values, [&](Index at, SmallVectorImpl<Value> &inside) {
      segment.at[d] = at;
      return nest(d + 1, inside);
    });
  };
  return nest(0, carried);
}
