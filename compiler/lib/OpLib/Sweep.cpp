// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sweeps: loops over the swept dimensions, access to operands at a step.

#include "Sweep.h"

using namespace mlir;

namespace tilejit::oplib {

/// Steps whose sums are formed before they are added to the total.
static constexpr int64_t partSteps = 256;

/// The dimension beside the last one that tiles run along; -1: none.
static int secondDim(const Space &space, TileSize tile) { return tile.rows > 1 ? sweepAcross(space) : -1; }

SmallVector<GridDim> Sweep::grid(const Space &space, TileSize tile) {
  int second = secondDim(space, tile);
  SmallVector<GridDim> dims;
  for (int d = 0; d < space.rank(); ++d)
    if (space.dims[d].tag != swept)
      dims.push_back({space.dims[d].size, d + 1 == space.rank() ? tile.columns : d == second ? tile.rows : 1});
  return dims;
}

void Sweep::kernel(KernelBuilder &b, StringRef name, const Space &space, const SweepRegime &regime,
                   function_ref<void(ArrayRef<Value>)> body) {
  KernelOptions options;
  options.warps = regime.warps;
  std::string fullName = name.str();
  int dim = onlySwept(space);
  bool isBounded = regime.maxLength && largest(space.description(), space.dims[dim].size) > *regime.maxLength;
  if (isBounded) {
    options.when.push_back({space.dims[dim].size, true, *regime.maxLength});
    fullName += "_to_" + std::to_string(*regime.maxLength);
  }
  b.kernel(fullName, grid(space, regime.tile), options, body);
}

Sweep::Sweep(KernelBuilder &b, const Space &space, const SweepRegime &regime, ArrayRef<Value> indices)
    : b_(b), space_(space) {
  int second = secondDim(space, regime.tile), last = space.rank() - 1;
  if (second >= 0) {
    tileDims_.push_back(second);
    shape_.push_back(regime.tile.rows);
  }
  tileDims_.push_back(last);
  shape_.push_back(regime.tile.columns);
  along_ = sweepsRows(space) ? last : second;

  start_.position.resize(space.rank());
  size_t next = 0;
  for (int d = 0; d <= last; ++d) {
    if (space.dims[d].tag != swept)
      start_.position[d] = indices[next++];
    else if (d != along_)
      loopDims_.push_back(d);
  }
  if (along_ < 0 || !loopDims_.empty())
    return;
  const Size &size = space.dims[along_].size;
  bool fits = size.isStatic() && size.factor > 0 && size.factor <= width();
  isSingleStep_ = fits || (regime.maxLength && *regime.maxLength <= width());
}

int64_t Sweep::tileSize(int dim) const {
  for (auto [tileDim, size] : llvm::zip(tileDims_, shape_))
    if (tileDim == dim)
      return size;
  return 1;
}

int64_t Sweep::width() const { return tileSize(along_); }

/// Whether no tile reaches beyond a dimension.
bool Sweep::tilesEvenly(int dim) const {
  return oplib::tilesEvenly(space_.description(), space_.dims[dim].size, tileSize(dim));
}

//===--- loops --------------------------------------------------------------------------------------------------===//

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

/// Loops over the swept dimensions from `next` on, then over tiles.
Values Sweep::runDims(size_t next, Step &step, ValueRange inits, Body body, Value first, Value last) {
  if (next == loopDims_.size())
    return along_ < 0 ? body(step, inits) : runTiles(step, inits, body, first, last);
  int dim = loopDims_[next];
  GridDim range{space_.dims[dim].size, 1};
  auto visit = [&](Value i, ValueRange carried) {
    step.position[dim] = i;
    return runDims(next + 1, step, carried, body, first, last);
  };
  bool isInnermost = along_ < 0 && next + 1 == loopDims_.size();
  if (isInnermost && inParts_ && largest(space_.description(), range.size) > partSteps)
    return runInParts(b_.index(0), b_.countValue(range), inits, visit);
  return b_.loop(range, inits, visit);
}

Values Sweep::runTiles(Step &step, ValueRange inits, Body body, Value first, Value last) {
  GridDim range{space_.dims[along_].size, width()};
  auto visit = [&](Value i, ValueRange carried) {
    step.position[along_] = i;
    return body(step, carried);
  };
  if (isSingleStep_)
    return visit(b_.index(0), inits);
  bool isLong = largest(space_.description(), range.size) / width() > partSteps;
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
  if (along_ < 0)
    return Values(carried);
  int64_t dim = along_ == tileDims_.back() ? int64_t(shape_.size()) - 1 : 0;
  SmallVector<int64_t> left(shape_.begin(), shape_.end());
  left.erase(left.begin() + dim);
  SmallVector<Type> types, elements;
  for (Value value : carried) {
    elements.push_back(cast<RankedTensorType>(value.getType()).getElementType());
    types.push_back(RankedTensorType::get(left, elements.back()));
  }
  auto reduce = tile::ReduceOp::create(b_, types, carried, dim);
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
  left.insert(left.begin() + dim, 1);
  Values results;
  for (auto [result, element] : llvm::zip(reduce.getResults(), elements))
    results.push_back(tile::ExpandOp::create(b_, RankedTensorType::get(left, element), result, dim));
  return results;
}

Value Sweep::finishSum(Value carried) {
  return finish(carried, [&](ValueRange left, ValueRange right) {
    return Values{isa<FloatType>(left[0].getType()) ? arith::AddFOp::create(b_, left[0], right[0]).getResult()
                                                    : arith::AddIOp::create(b_, left[0], right[0]).getResult()};
  })[0];
}

//===--- access -------------------------------------------------------------------------------------------------===//

Value Sweep::load(int slot, const Step &step, DType compute, tile::Pad pad) {
  DType dtype = space_.operand(space_.accesses[slot].operand).dtype;
  SmallVector<Value> coordinates;
  SmallVector<int64_t> shape;
  bool isInside = true;
  for (auto [dim, size] : llvm::zip(tileDims_, shape_)) {
    bool moves = space_.accesses[slot].axes[dim].moves();
    coordinates.push_back(moves ? step.position[dim] : b_.index(0));
    shape.push_back(moves ? size : 1);
    isInside &= tilesEvenly(dim);
  }
  Value view = b_.slice(space_, slot, tileDims_, step.position);
  Value tile = oplib::load(b_, view, coordinates, shape, dtype, pad, isInside);
  tile = broadcastTo(b_, convert(b_, tile, dtype, compute), shape_);
  Value mask = dtype == DType::F8E8M0 && pad == tile::Pad::Zero ? inside(step) : Value();
  return mask ? arith::SelectOp::create(b_, mask, tile, splatLike(b_, tile, 0)).getResult() : tile;
}

void Sweep::store(int slot, const Step &step, Value value, DType from) {
  DType dtype = space_.operand(space_.accesses[slot].operand).dtype;
  Value view = b_.slice(space_, slot, tileDims_, step.position);
  SmallVector<Value> coordinates;
  for (int dim : tileDims_)
    coordinates.push_back(step.position[dim]);
  oplib::store(b_, convert(b_, value, from, dtype), view, coordinates, dtype);
}

void Sweep::storeFinished(int slot, Value value, DType from) {
  Step step = start_;
  if (along_ >= 0)
    step.position[along_] = b_.index(0);
  store(slot, step, value, from);
}

/// Repeats a vector that runs along along() over the tile.
Value Sweep::alongTile(Value vector) {
  if (shape_.size() == 1)
    return vector;
  Type element = cast<RankedTensorType>(vector.getType()).getElementType();
  bool isLast = along_ == tileDims_.back();
  SmallVector<int64_t> shape{isLast ? 1 : shape_[0], isLast ? shape_[1] : 1};
  Value expanded = tile::ExpandOp::create(b_, RankedTensorType::get(shape, element), vector, isLast ? 0 : 1);
  return broadcastTo(b_, expanded, shape_);
}

Value Sweep::inside(const Step &step) {
  if (along_ < 0 || tilesEvenly(along_))
    return {};
  return alongTile(lanesInside(b_, space_.dims[along_].size, step.position[along_], width()));
}

Value Sweep::count() {
  Value count = b_.index(1);
  if (along_ >= 0)
    count = b_.sizeValue(space_.dims[along_].size);
  for (int d : loopDims_)
    count = b_.mul(count, b_.sizeValue(space_.dims[d].size));
  return count;
}

Value Sweep::firstIndex(Type type, Value first) {
  Step step = start_;
  for (int d : loopDims_)
    step.position[d] = b_.index(0);
  if (along_ >= 0)
    step.position[along_] = first ? first : b_.index(0);
  return linearIndex(step, type);
}

Value Sweep::linearIndex(const Step &step, Type type) {
  Value base = b_.index(0);
  for (int d : loopDims_)
    base = b_.add(b_.mul(base, b_.sizeValue(space_.dims[d].size)), step.position[d]);
  auto spreadIndex = [&](Value scalar, ArrayRef<int64_t> shape) -> Value {
    return splatIndex(b_, RankedTensorType::get(shape, type), scalar);
  };
  if (along_ < 0)
    return spreadIndex(base, shape_);
  // Innermost of those that are swept.
  base = b_.mul(base, b_.sizeValue(space_.dims[along_].size));
  base = b_.add(base, b_.mul(step.position[along_], b_.index(width())));
  Value lanes = tile::IotaOp::create(b_, RankedTensorType::get(width(), type));
  return alongTile(arith::AddIOp::create(b_, spreadIndex(base, width()), lanes));
}

} // namespace tilejit::oplib
