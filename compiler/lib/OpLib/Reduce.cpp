// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reductions. One kernel sweeps the reduced dimensions for each result. Where there are few results of very many
// contiguous elements, two phases do: parts into the workspace, then their combination.

#include "Generators.h"
#include "Reducer.h"
#include "Sweep.h"

using namespace mlir;

namespace tilejit::oplib {

static constexpr int kept = 0, reduced = 1;

Space reduceSpace(const Description &description) {
  const auto &attributes = description.as<ReduceAttributes>();
  const Operand &x = description.inputs[0];
  Space space(description);
  SmallVector<int> xAlong, yAlong;
  for (int d = 0, next = 0; d < x.rank(); ++d) {
    bool isReduced = llvm::is_contained(attributes.axes, d);
    space.addDim(x.shape[d], isReduced ? reduced : kept);
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

static void buildSinglePhase(KernelBuilder &b, const Space &space, int64_t width, const KernelOptions &options) {
  b.kernel("reduce", Sweep::grid(space, reduced, width), options, [&](ArrayRef<Value> indices) {
    Reducer reducer(b);
    Sweep sweep(b, space, reduced, width, indices);
    Values state = sweepState(b, reducer, sweep);
    Value result = reducer.finish(state, sweep.count());
    b.setPlace("outputs/y");
    sweep.storeFinished(1, result, reducer.resultType());
  });
}

namespace {
/// Two phases: each part of a row leaves its state in the workspace.
class TwoPhase {
public:
  TwoPhase(KernelBuilder &b, const Space &space, int64_t width, int64_t chunk)
      : b_(b), space_(space), width_(width), tilesPerPart_(std::max<int64_t>(1, chunk / width)) {
    if (space.rank() == 2)
      rows_ = space.dims[0].size;
  }

  /// Whether the shape gains from it: few rows, each swept along its last dimension only.
  static bool applies(const Space &space, int64_t chunk) {
    constexpr int64_t maxRows = 64;
    const Description &description = space.description();
    bool isRow = space.dims.back().tag == reduced && space.rank() <= 2;
    if (!isRow || (space.rank() == 2 && (space.dims[0].tag == reduced || !space.dims[0].size.isStatic())))
      return false;
    return (space.rank() == 1 || space.dims[0].size.factor <= maxRows) &&
           largest(description, space.dims.back().size) > chunk;
  }

  void buildParts(KernelOptions options);
  void buildTotal(KernelOptions options);

private:
  GridDim parts() const { return {space_.dims.back().size, width_ * tilesPerPart_}; }
  AffineExpr workspaceBytes(bool isArg) { return b_.countExpr(parts()) * (rows_.factor * 8 * (isArg ? 2 : 1)); }
  Value partsView(Value row, Type element, bool areIndices);

  KernelBuilder &b_;
  const Space &space_;
  int64_t width_, tilesPerPart_;
  Size rows_;
};

/// The parts of a row: values in the first half of the workspace, indices in the second; 8 bytes are kept for each.
Value TwoPhase::partsView(Value row, Type element, bool areIndices) {
  Value count = b_.countValue(parts());
  Value before = arith::MulIOp::create(b_, row, count);
  if (areIndices)
    before = arith::AddIOp::create(b_, before, arith::MulIOp::create(b_, b_.index(rows_.factor), count));
  Value bytes = arith::MulIOp::create(b_, before, b_.index(8));
  Value base = tile::AddPtrOp::create(b_, b_.workspace(), bytes);
  std::optional<int64_t> known = getConstantIntValue(count);
  auto type = tile::ViewType::get(known.value_or(ShapedType::kDynamic), element);
  return tile::ViewOp::create(b_, type, base, known ? ValueRange() : ValueRange(count), ValueRange());
}

void TwoPhase::buildParts(KernelOptions options) {
  options.workspace = workspaceBytes(Reducer(b_).isArg());
  b_.kernel("reduce_parts", {{rows_, 1}, parts()}, options, [&](ArrayRef<Value> indices) {
    Reducer reducer(b_);
    Sweep sweep(b_, space_, reduced, width_, indices);
    Value tiles = b_.index(tilesPerPart_);
    Value first = arith::MulIOp::create(b_, indices[1], tiles);
    Value all = b_.countValue({space_.dims.back().size, width_});
    Value last = arith::MinUIOp::create(b_, arith::AddIOp::create(b_, first, tiles), all);
    Values state = sweepState(b_, reducer, sweep, first, last);
    for (auto [number, value] : llvm::enumerate(state)) {
      Type element = cast<RankedTensorType>(value.getType()).getElementType();
      tile::StoreOp::create(b_, value, partsView(indices[0], element, number == 1), indices[1]);
    }
  });
}

void TwoPhase::buildTotal(KernelOptions options) {
  options.workspace = workspaceBytes(Reducer(b_).isArg());
  options.phase = 1;
  b_.kernel("reduce_total", {{rows_, 1}}, options, [&](ArrayRef<Value> indices) {
    Reducer reducer(b_);
    Sweep sweep(b_, space_, reduced, width_, indices);
    int64_t width = std::max<int64_t>(
        1, std::min(width_, largest(b_.description(), space_.dims.back().size) / (width_ * tilesPerPart_)));
    Value count = b_.countValue(parts());
    Value raised = arith::AddIOp::create(b_, count, b_.index(width - 1));
    Value blocks = arith::DivUIOp::create(b_, raised, b_.index(width));
    Type valueElement = valueType(b_.getContext(), reducer.compute());
    Value values = partsView(indices[0], valueElement, false), places;
    Value noIndex;
    if (reducer.isArg()) {
      places = partsView(indices[0], reducer.indexType(), true);
      noIndex = splatInt(b_, RankedTensorType::get(width, reducer.indexType()), maxValue(reducer.resultType()));
    }
    Values state = b_.loop(b_.index(0), blocks, reducer.start(width, noIndex), [&](Value block, ValueRange carried) {
      Values next{tile::LoadOp::create(b_, RankedTensorType::get(width, valueElement), values, block, reducer.pad())};
      if (reducer.isArg())
        next.push_back(tile::LoadOp::create(b_, RankedTensorType::get(width, reducer.indexType()), places, block,
                                            tile::Pad::Highest));
      return reducer.combine(carried, next);
    });
    state = sweep.finish(state, [&](ValueRange left, ValueRange right) { return reducer.combine(left, right); });
    Value result = reducer.finish(state, sweep.count());
    b_.setPlace("outputs/y");
    sweep.storeFinished(1, result, reducer.resultType());
  });
}
} // namespace

void buildReduce(KernelBuilder &b, const Schedule &schedule) {
  Space space = reduceSpace(b.description());
  int64_t width = schedule.reduceTile(space);
  int64_t chunk = schedule.reduceChunk();
  if (!TwoPhase::applies(space, chunk))
    return buildSinglePhase(b, space, width, {});
  const Size &length = space.dims.back().size;
  KernelOptions options;
  if (smallest(b.description(), length) <= chunk) {
    options.when = {{length, true, chunk}};
    buildSinglePhase(b, space, width, options);
    options.when = {{length, false, chunk + 1}};
  }
  TwoPhase phases(b, space, width, chunk);
  phases.buildParts(options);
  phases.buildTotal(options);
}

} // namespace tilejit::oplib
