// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sweeps: loops over the swept dimensions, access to operands at a step.

#include "Sweep.h"

using namespace mlir;

namespace tilejit::oplib {

/// Steps whose sums are formed before they are added to the total.
static constexpr int64_t partSteps = 256;

static bool sweepsLast(const Space &space, int swept) { return space.dims.back().tag == swept; }

SmallVector<GridDim> Sweep::grid(const Space &space, int swept, int64_t width) {
  SmallVector<GridDim> dims;
  for (int d = 0; d < space.rank(); ++d)
    if (space.dims[d].tag != swept)
      dims.push_back({space.dims[d].size, d + 1 == space.rank() ? width : 1});
  return dims;
}

Sweep::Sweep(KernelBuilder &b, const Space &space, int swept, int64_t width, ArrayRef<Value> indices)
    : b_(b), space_(space), width_(width), isRow_(sweepsLast(space, swept)) {
  start_.position.resize(space.rank());
  size_t next = 0;
  for (int d = 0; d + 1 < space.rank(); ++d) {
    if (space.dims[d].tag == swept)
      sweptDims_.push_back(d);
    else
      start_.position[d] = indices[next++];
  }
  start_.tile = isRow_ ? Value() : indices[next];
}

bool Sweep::isSingleStep() const {
  const Size &size = space_.dims.back().size;
  return isRow_ && sweptDims_.empty() && size.isStatic() && size.factor > 0 && size.factor <= width_;
}

bool Sweep::isRagged() const { return !tilesEvenly(space_.description(), space_.dims.back().size, width_); }

Values Sweep::run(ValueRange inits, Body body, Value first, Value last) {
  inParts_ = false;
  Step step = start_;
  return runDims(0, step, inits, body, first, last);
}

Values Sweep::runSums(ValueRange zeros, Body body, Value first, Value last) {
  inParts_ = true;
  Step step = start_;
  return runDims(0, step, zeros, body, first, last);
}

/// Loops over the swept dimensions from `next` on; the innermost one is the last of them for columns.
Values Sweep::runDims(size_t next, Step &step, ValueRange inits, Body body, Value first, Value last) {
  if (next == sweptDims_.size())
    return isRow_ ? runLast(step, inits, body, first, last) : body(step, inits);
  int dim = sweptDims_[next];
  GridDim range{space_.dims[dim].size, 1};
  auto visit = [&](Value i, ValueRange carried) {
    step.position[dim] = i;
    return runDims(next + 1, step, carried, body, first, last);
  };
  bool isInnermost = !isRow_ && next + 1 == sweptDims_.size();
  if (isInnermost && inParts_ && largest(space_.description(), range.size) > partSteps)
    return runInParts(b_.index(0), b_.countValue(range), inits, visit);
  return b_.loop(range, inits, visit);
}

Values Sweep::runLast(Step &step, ValueRange inits, Body body, Value first, Value last) {
  GridDim range{space_.dims.back().size, width_};
  auto visit = [&](Value i, ValueRange carried) {
    step.tile = i;
    return body(step, carried);
  };
  bool isLong = largest(space_.description(), range.size) / width_ > partSteps;
  if (inParts_ && isLong)
    return runInParts(first ? first : b_.index(0), last ? last : b_.countValue(range), inits, visit);
  return first ? b_.loop(first, last, inits, visit) : b_.loop(range, inits, visit);
}

/// Parts of partSteps steps; each starts from zeros and is added to what is carried.
Values Sweep::runInParts(Value first, Value last, ValueRange carried, function_ref<Values(Value, ValueRange)> body) {
  Value steps = b_.index(partSteps);
  Value length = arith::SubIOp::create(b_, last, first);
  Value raised = arith::AddIOp::create(b_, length, b_.index(partSteps - 1));
  Value parts = arith::DivUIOp::create(b_, raised, steps);
  Values zeros;
  for (Value value : carried)
    zeros.push_back(isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType())
                        ? splatLike(b_, value, 0)
                        : splatIntLike(b_, value, 0));
  return b_.loop(b_.index(0), parts, carried, [&](Value part, ValueRange totals) {
    Value begin = arith::AddIOp::create(b_, first, arith::MulIOp::create(b_, part, steps));
    Value end = arith::MinUIOp::create(b_, arith::AddIOp::create(b_, begin, steps), last);
    Values sums = b_.loop(begin, end, zeros, body);
    for (auto [sum, total] : llvm::zip(sums, totals))
      sum = isa<FloatType>(cast<RankedTensorType>(sum.getType()).getElementType())
                ? arith::AddFOp::create(b_, total, sum).getResult()
                : arith::AddIOp::create(b_, total, sum).getResult();
    return sums;
  });
}

Values Sweep::finish(ValueRange carried, Combine combine) {
  if (!isRow_)
    return Values(carried);
  SmallVector<Type> types, elements;
  for (Value value : carried) {
    elements.push_back(cast<RankedTensorType>(value.getType()).getElementType());
    types.push_back(RankedTensorType::get({}, elements.back()));
  }
  auto reduce = tile::ReduceOp::create(b_, types, carried, 0);
  {
    OpBuilder::InsertionGuard guard(b_);
    SmallVector<Type> arguments(elements);
    arguments.append(elements);
    Block *block =
        b_.createBlock(&reduce.getCombiner(), {}, arguments, SmallVector<Location>(arguments.size(), b_.getLoc()));
    ValueRange all = block->getArguments();
    Values combined = combine(all.take_front(carried.size()), all.drop_front(carried.size()));
    tile::YieldOp::create(b_, ValueRange(combined));
  }
  Values results;
  for (auto [result, element] : llvm::zip(reduce.getResults(), elements))
    results.push_back(tile::ExpandOp::create(b_, RankedTensorType::get({1}, element), result, 0));
  return results;
}

Value Sweep::finishSum(Value carried) {
  return finish(carried, [&](ValueRange left, ValueRange right) {
    return Values{isa<FloatType>(left[0].getType()) ? arith::AddFOp::create(b_, left[0], right[0]).getResult()
                                                    : arith::AddIOp::create(b_, left[0], right[0]).getResult()};
  })[0];
}

Value Sweep::firstIndex(Type type, Value first) {
  Step step = start_;
  for (int d : sweptDims_)
    step.position[d] = b_.index(0);
  if (isRow_)
    step.tile = first ? first : b_.index(0);
  return linearIndex(step, type);
}

Value Sweep::load(int slot, const Step &step, DType compute, tile::Pad pad) {
  int last = space_.rank() - 1;
  bool moves = space_.accesses[slot].axes[last].moves();
  DType dtype = space_.operand(space_.accesses[slot].operand).dtype;
  Value view = b_.slice(space_, slot, last, step.position);
  Value tile = oplib::load(b_, view, moves ? step.tile : b_.index(0), moves ? width_ : 1, dtype, pad, !isRagged());
  tile = broadcastTo(b_, convert(b_, tile, dtype, compute), shape());
  Value mask = dtype == DType::F8E8M0 && pad == tile::Pad::Zero && isRow_ ? inside(step) : Value();
  return mask ? arith::SelectOp::create(b_, mask, tile, splatLike(b_, tile, 0)).getResult() : tile;
}

void Sweep::store(int slot, const Step &step, Value value, DType from) {
  DType dtype = space_.operand(space_.accesses[slot].operand).dtype;
  Value view = b_.slice(space_, slot, space_.rank() - 1, step.position);
  oplib::store(b_, convert(b_, value, from, dtype), view, step.tile, dtype);
}

void Sweep::storeFinished(int slot, Value value, DType from) {
  Step step = start_;
  if (isRow_)
    step.tile = b_.index(0);
  store(slot, step, value, from);
}

Value Sweep::inside(const Step &step) {
  if (!isRagged())
    return {};
  return lanesInside(b_, space_.dims.back().size, step.tile, width_);
}

Value Sweep::count() {
  Value count = isRow_ ? b_.sizeValue(space_.dims.back().size) : b_.index(1);
  for (int d : sweptDims_)
    count = b_.mul(count, b_.sizeValue(space_.dims[d].size));
  return count;
}

Value Sweep::linearIndex(const Step &step, Type type) {
  Value base = b_.index(0);
  for (int d : sweptDims_)
    base = b_.add(b_.mul(base, b_.sizeValue(space_.dims[d].size)), step.position[d]);
  auto tileType = RankedTensorType::get(shape(), type);
  auto spreadIndex = [&](Value scalar) -> Value {
    return tile::SplatOp::create(b_, tileType, arith::IndexCastOp::create(b_, type, scalar));
  };
  if (!isRow_)
    return spreadIndex(base);
  base = b_.mul(base, b_.sizeValue(space_.dims.back().size));
  base = b_.add(base, b_.mul(step.tile, b_.index(width_)));
  return arith::AddIOp::create(b_, spreadIndex(base), tile::IotaOp::create(b_, tileType));
}

} // namespace tilejit::oplib
