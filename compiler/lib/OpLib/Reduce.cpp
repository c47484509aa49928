// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reductions. One kernel sweeps the reduced dimensions for each result. Where there are few results of very many
// elements, two phases do: parts into the workspace, then their combination.

#include "Generators.h"
#include "Reducer.h"
#include "Sweep.h"

using namespace mlir;

namespace tilejit::oplib {

Space reduceSpace(const Description &description) {
  const auto &attributes = description.as<ReduceAttributes>();
  const Operand &x = description.inputs[0];
  Space space(description);
  SmallVector<int> xAlong, yAlong;
  for (int d = 0, next = 0; d < x.rank(); ++d) {
    bool isReduced = llvm::is_contained(attributes.axes, d);
    space.addDim(x.shape[d], isReduced ? swept : kept);
    xAlong.push_back(d);
    yAlong.push_back(isReduced ? -1 : next);
    next += !isReduced || attributes.keepdims;
  }
  space.addOperand(0, xAlong);
  space.addOperand(1, yAlong);
  space.collapse();
  return space;
}

/// State after a sweep, lanes combined. `first` and `last` bound its tiles.
static Values sweepState(KernelBuilder &b, Reducer &reducer, Sweep &sweep, Value first = {}, Value last = {}) {
  auto element = [&](const Step &step, ValueRange state) {
    b.setPlace("inputs/x");
    Value x = sweep.load(0, step, reducer.compute(), reducer.pad());
    b.setPlace("op");
    return reducer.append(state, x, reducer.isArg() ? sweep.linearIndex(step, reducer.indexType()) : Value());
  };
  b.setPlace("op");
  Value indices;
  if (reducer.isArg())
    indices = sweep.firstIndex(reducer.indexType(), first);
  Values start = reducer.start(sweep.shape(), indices);
  Values state = reducer.isSum() ? sweep.runSums(start, element, first, last) : sweep.run(start, element, first, last);
  return sweep.finish(state, [&](ValueRange left, ValueRange right) { return reducer.combine(left, right); });
}

static void buildSinglePhase(KernelBuilder &b, const Space &space, const SweepRegime &regime) {
  Sweep::kernel(b, "reduce", space, regime, [&](ArrayRef<Value> indices) {
    Reducer reducer(b);
    Sweep sweep(b, space, regime, indices);
    Values state = sweepState(b, reducer, sweep);
    Value result = reducer.finish(state, sweep.count());
    b.setPlace("outputs/y");
    sweep.storeFinished(1, result, reducer.resultType());
  });
}

namespace {
/// Two phases: each part of what a result is made of leaves its state in the workspace.
class TwoPhase {
public:
  TwoPhase(KernelBuilder &b, const Space &space, const SweepRegime &regime, const Schedule &schedule);

  /// Whether some shapes gain from it: few results of many elements.
  bool applies() const { return dim_ >= 0 && largest(b_.description(), length()) > chunk_; }
  /// Whether all shapes do.
  bool isAlways() const { return conditions().empty(); }
  void buildParts();
  void buildTotal();

private:
  using Condition = KernelOptions::Condition;

  const Size &length() const { return space_.dims[dim_].size; }
  int64_t stepSize() const { return isRow_ ? regime_.tile.columns : regime_.tile.rows; }
  int64_t stepsOfPart() const { return std::max<int64_t>(1, chunk_ / stepSize()); }
  GridDim parts() const { return {length(), stepSize() * stepsOfPart()}; }
  bool boundResults(int64_t limit);
  llvm::SmallVector<Condition, 2> conditions() const;
  KernelOptions options();
  Value partsView(const Sweep &sweep, Type element, bool areIndices);
  llvm::SmallVector<Value> coordinates(const Sweep &sweep, Value part);

  KernelBuilder &b_;
  const Space &space_;
  SweepRegime regime_;
  int64_t chunk_;
  bool isRow_;
  int dim_ = -1;           ///< The dimension that is cut into parts; -1: none can be.
  int64_t maxResults_ = 1; ///< Of shapes that take two phases.
  std::optional<Condition> fewResults_;
};
} // namespace

TwoPhase::TwoPhase(KernelBuilder &b, const Space &space, const SweepRegime &regime, const Schedule &schedule)
    : b_(b), space_(space), regime_{regime.tile, regime.warps, std::nullopt}, chunk_(schedule.reduceChunk()),
      isRow_(sweepsRows(space)) {
  bool cuts = isRow_ || regime.tile.rows > 1;
  if (cuts && boundResults(schedule.maxSplitResults(space, regime.tile)))
    dim_ = onlySwept(space);
}

/// Finds out for which shapes there are at most `limit` results; false: for none, or it can't be told.
bool TwoPhase::boundResults(int64_t limit) {
  std::optional<Size> varying;
  for (const SpaceDim &dim : space_.dims) {
    if (dim.tag == swept)
      continue;
    if (!dim.size.isStatic()) {
      if (varying)
        return false;
      varying = dim.size;
    } else if (dim.size.factor == 0 || dim.size.factor > limit / maxResults_) {
      return false;
    } else {
      maxResults_ *= dim.size.factor;
    }
  }
  int64_t bound = limit / maxResults_;
  if (varying && largest(b_.description(), *varying) > bound)
    fewResults_ = Condition{*varying, true, bound};
  if (varying)
    maxResults_ *= std::min(bound, largest(b_.description(), *varying));
  return maxResults_ > 0 && maxResults_ <= limit;
}

SmallVector<KernelOptions::Condition, 2> TwoPhase::conditions() const {
  SmallVector<Condition, 2> all;
  if (smallest(b_.description(), length()) <= chunk_)
    all.push_back({length(), false, chunk_ + 1});
  if (fewResults_)
    all.push_back(*fewResults_);
  return all;
}

/// 8 bytes are kept for each value and each index of a part.
KernelOptions TwoPhase::options() {
  KernelOptions options;
  options.when = conditions();
  options.warps = regime_.warps;
  options.workspace = b_.countExpr(parts()) * (maxResults_ * 8 * (Reducer(b_).isArg() ? 2 : 1));
  return options;
}

/// The parts of the results of a sweep's tile and their neighbours: [result, part] of rows, [part, result] of columns,
/// [part] of a single row. All values come first in the workspace, then all indices.
Value TwoPhase::partsView(const Sweep &sweep, Type element, bool areIndices) {
  Value count = b_.countValue(parts()), group = b_.index(0), inner, results = b_.index(1);
  for (int d = 0; d < space_.rank(); ++d) {
    if (d == dim_)
      continue;
    Value size = b_.sizeValue(space_.dims[d].size);
    results = b_.mul(results, size);
    if (llvm::is_contained(sweep.tileDims(), d))
      inner = size;
    else
      group = b_.add(b_.mul(group, size), sweep.place()[d]);
  }
  Value before = b_.mul(group, inner ? b_.mul(count, inner) : count);
  if (areIndices)
    before = b_.add(before, b_.mul(results, count));
  Value base = tile::AddPtrOp::create(b_, b_.workspace(), b_.mul(before, b_.index(8)));
  SmallVector<Value> sizes{count};
  if (inner)
    sizes.insert(isRow_ ? sizes.begin() : sizes.end(), inner);
  SmallVector<int64_t> shape;
  SmallVector<Value> varying;
  for (Value size : sizes) {
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    if (ShapedType::isDynamic(shape.back()))
      varying.push_back(size);
  }
  return tile::ViewOp::create(b_, tile::ViewType::get(shape, element), base, varying, ValueRange());
}

SmallVector<Value> TwoPhase::coordinates(const Sweep &sweep, Value part) {
  SmallVector<Value> coordinates;
  for (int d : sweep.tileDims())
    coordinates.push_back(d == dim_ ? part : sweep.place()[d]);
  return coordinates;
}

void TwoPhase::buildParts() {
  SmallVector<GridDim> grid = Sweep::grid(space_, regime_.tile);
  grid.push_back(parts());
  b_.kernel("reduce_parts", grid, options(), [&](ArrayRef<Value> indices) {
    Reducer reducer(b_);
    Value part = indices.back(), steps = b_.index(stepsOfPart());
    Sweep sweep(b_, space_, regime_, indices.drop_back());
    Value first = arith::MulIOp::create(b_, part, steps);
    Value all = b_.countValue({length(), stepSize()});
    Value last = arith::MinUIOp::create(b_, arith::AddIOp::create(b_, first, steps), all);
    Values state = sweepState(b_, reducer, sweep, first, last);
    for (auto [number, value] : llvm::enumerate(state)) {
      Type element = cast<RankedTensorType>(value.getType()).getElementType();
      tile::StoreOp::create(b_, value, partsView(sweep, element, number == 1), coordinates(sweep, part));
    }
  });
}

void TwoPhase::buildTotal() {
  KernelOptions total = options();
  total.phase = 1;
  // Columns keep tiles of two dimensions.
  int64_t most = llvm::divideCeil(largest(b_.description(), length()), parts().tile), least = isRow_ ? 1 : 2;
  int64_t width = std::clamp(int64_t(llvm::bit_ceil(uint64_t(most))), least, std::max(least, stepSize()));
  SweepRegime regime = regime_;
  (isRow_ ? regime.tile.columns : regime.tile.rows) = width;
  b_.kernel("reduce_total", Sweep::grid(space_, regime.tile), total, [&](ArrayRef<Value> indices) {
    Reducer reducer(b_);
    Sweep sweep(b_, space_, regime, indices);
    Value raised = arith::AddIOp::create(b_, b_.countValue(parts()), b_.index(width - 1));
    Value blocks = arith::DivUIOp::create(b_, raised, b_.index(width));
    Type valueElement = valueType(b_.getContext(), reducer.compute());
    Value values = partsView(sweep, valueElement, false), places, noIndex;
    if (reducer.isArg()) {
      places = partsView(sweep, reducer.indexType(), true);
      noIndex = splatInt(b_, RankedTensorType::get(sweep.shape(), reducer.indexType()), maxValue(reducer.resultType()));
    }
    Values start = reducer.start(sweep.shape(), noIndex);
    Values state = b_.loop(b_.index(0), blocks, start, [&](Value block, ValueRange carried) {
      auto loadParts = [&](Value view, Type element, tile::Pad pad) -> Value {
        return tile::LoadOp::create(b_, RankedTensorType::get(sweep.shape(), element), view, coordinates(sweep, block),
                                    pad);
      };
      Values next{loadParts(values, valueElement, reducer.pad())};
      if (reducer.isArg())
        next.push_back(loadParts(places, reducer.indexType(), tile::Pad::Highest));
      return reducer.combine(carried, next);
    });
    state = sweep.finish(state, [&](ValueRange left, ValueRange right) { return reducer.combine(left, right); });
    Value result = reducer.finish(state, sweep.count());
    b_.setPlace("outputs/y");
    sweep.storeFinished(1, result, reducer.resultType());
  });
}

void buildReduce(KernelBuilder &b, const Schedule &schedule) {
  Space space = reduceSpace(b.description());
  std::vector<SweepRegime> regimes = schedule.reduce(space);
  TwoPhase phases(b, space, regimes.back(), schedule);
  if (phases.applies())
    phases.buildParts();
  if (!phases.applies() || !phases.isAlways())
    for (const SweepRegime &regime : regimes)
      buildSinglePhase(b, space, regime);
  if (phases.applies())
    phases.buildTotal();
}

} // namespace tilejit::oplib
