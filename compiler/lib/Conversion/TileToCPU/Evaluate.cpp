// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lazy values: evaluating a segment of an expression, and asking what an expression reads. What was computed in a loop
// body is remembered for that body; what does not change in a loop is computed before it.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

const LazyOp *KernelLowering::lazyOp(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!op)
    return nullptr;
  auto it = tables.lazy.find(op->getName().getStringRef());
  return it == tables.lazy.end() ? nullptr : &it->second;
}

Value KernelLowering::evaluateHere(Value tile, const Segment &segment) {
  if (Stored *place = stored(tile)) {
    if (place->source)
      noteSweep(place->source, segment);
    return readStored(*place, cast<RankedTensorType>(tile.getType()), segment);
  }
  const LazyOp *lazy = lazyOp(tile);
  if (!lazy) {
    if (Operation *op = tile.getDefiningOp())
      (void)refuse(op, "this back end does not support the operation");
    return {};
  }
  Operation *op = tile.getDefiningOp();
  SmallVector<Segment, 3> needs = lazy->operands(*this, op, segment);
  SmallVector<Value, 3> values;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    Value value = evaluate(operand, needs[values.size()]);
    if (!value)
      return {};
    values.push_back(value);
  }
  Value result = lazy->combine(*this, op, segment, values);
  if (auto kept = keptOnTheWay.find(tile); kept != keptOnTheWay.end() && result)
    writeBuffer(kept->second.second.buffer, getElementTypeOrSelf(tile.getType()), segment, result);
  return result;
}

Value KernelLowering::evaluate(Value tile, const Segment &wanted) {
  Segment segment = wanted;
  // Single elements are always checked: they may be computed before the loop whose bounds vouch for them.
  segment.checked |= segment.dim < 0;
  SmallVector<std::pair<void *, int64_t>, 4> at;
  for (const Index &i : segment.at)
    at.push_back({i.value.getAsOpaquePointer(), i.constant});
  auto key = std::make_tuple(tile.getAsOpaquePointer(), at, segment.dim, segment.width, segment.checked);
  for (Scope &scope : llvm::reverse(scopes))
    if (auto it = scope.memo.find(key); it != scope.memo.end())
      return it->second;

  // The innermost scope that a coordinate depends on is where the value belongs.
  unsigned level = rootDepth ? rootDepth - 1 : 0;
  for (Index i : segment.at)
    if (i.value)
      for (unsigned s = scopes.size(); s-- > level + 1;)
        if (scopes[s].block == i.value.getParentBlock()) {
          level = s;
          break;
        }
  OpBuilder::InsertionGuard guard(b);
  if (level + 1 < scopes.size() && scopes[level + 1].loop && segment.dim < 0)
    b.setInsertionPoint(scopes[level + 1].loop);
  else
    level = scopes.size() - 1;
  // While code goes to an outer scope, inner ones must not be consulted or written.
  SmallVector<Scope> inner;
  while (scopes.size() > level + 1)
    inner.push_back(scopes.pop_back_val());
  Value result = evaluateHere(tile, segment);
  if (result)
    scopes.back().memo[key] = result;
  while (!inner.empty())
    scopes.push_back(inner.pop_back_val());
  return result;
}

void KernelLowering::collectBounds(Value tile, const Segment &segment, SmallVectorImpl<Bound> &bounds) {
  if (stored(tile) || segment.dim < 0)
    return;
  const LazyOp *lazy = lazyOp(tile);
  if (!lazy)
    return;
  Operation *op = tile.getDefiningOp();
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    const Access &a = loadAccess(op);
    Bound bound;
    for (auto [d, extent] : llvm::enumerate(a.extents)) {
      if (static_cast<int>(d) == segment.dim) {
        // Nothing is asked for beyond the tile but the rest of a last segment that the tile does not fill.
        int64_t size = load.getType().getShape()[d];
        if (extent.is(size) && size % segment.width == 0)
          continue;
        bound.lanes = e.sub(extent, segment.at[d]);
        bound.hasLanes = true;
      } else {
        bound.condition = e.both(bound.condition, e.less(segment.at[d], extent));
      }
    }
    if (bound.condition || bound.hasLanes)
      bounds.push_back(bound);
    return;
  }
  SmallVector<Segment, 3> needs = lazy->operands(*this, op, segment);
  unsigned next = 0;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      collectBounds(operand, needs[next++], bounds);
}

/// Visits the values that an expression is made of; `visit` says whether to look behind one.
static void walkExpression(KernelLowering &l, Value tile, llvm::SmallPtrSetImpl<void *> &seen,
                           llvm::function_ref<bool(Value)> visit) {
  if (!seen.insert(tile.getAsOpaquePointer()).second || !visit(tile) || !l.lazyOp(tile))
    return;
  for (Value operand : tile.getDefiningOp()->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      walkExpression(l, operand, seen, visit);
}

bool KernelLowering::readsBuffer(Value tile, Value buffer, bool elsewhere) {
  bool found = false;
  llvm::SmallPtrSet<void *, 16> seen;
  walkExpression(*this, tile, seen, [&](Value value) {
    if (Stored *place = stored(value)) {
      found |= !place->inRegisters() && place->buffer.pointer == buffer;
      return false;
    }
    return true;
  });
  if (!found || !elsewhere)
    return found;
  // Reads stay at the value's own coordinates if only elementwise operations lie between.
  found = false;
  seen.clear();
  walkExpression(*this, tile, seen, [&](Value value) {
    if (stored(value))
      return false;
    Operation *op = value.getDefiningOp();
    if (op && op->hasTrait<OpTrait::Elementwise>())
      return true;
    if (op && lazyOp(value))
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          found |= readsBuffer(operand, buffer, false);
    return false;
  });
  return found;
}

bool KernelLowering::readsRegisters(Value tile) {
  bool found = false;
  llvm::SmallPtrSet<void *, 16> seen;
  walkExpression(*this, tile, seen, [&](Value value) {
    if (Stored *place = stored(value)) {
      found |= place->registers.size() > 1;
      return false;
    }
    return true;
  });
  return found;
}
