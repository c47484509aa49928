// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Attention. A program instance takes a block of queries of one head and goes once through the blocks of keys that any
// of them sees. It carries, for each query, the largest score so far, the sum of exponentials and the weighted sum of
// values, both relative to that score and scaled down where it grows. Scores stay -inf where a query does not see a
// key; a row that has only those subtracts 0 from them, so that no difference of infinities is formed.

#include "Epilogue.h"
#include "Generators.h"
#include "Values.h"

#include <limits>

using namespace mlir;

namespace tilejit::oplib {

AttentionShape attentionShape(const Description &description) {
  const Operand &q = description.inputs[0], &k = description.inputs[1];
  AttentionShape shape{Space(description), Space(description), q.shape[1].size / k.shape[1].size};
  for (const Dim &dim : {q.shape[0], q.shape[1], q.shape[2], k.shape[2], q.shape[3]})
    shape.queries.addDim(dim);
  for (const Dim &dim : k.shape)
    shape.keys.addDim(dim);
  int outputs = static_cast<int>(description.inputs.size());
  for (int operand : {0, outputs})
    shape.queries.addOperand(operand, std::array{0, 1, 2, -1, 3});
  for (int operand : {1, 2})
    shape.keys.addOperand(operand, std::array{0, 1, 2, 3});
  if (description.outputs.size() > 1)
    shape.lse = shape.queries.addOperand(outputs + 1, std::array{0, 1, 2, -1, -1});
  if (outputs > 3) {
    std::array along{-1, -1, -1, -1, -1};
    int rank = description.inputs[3].rank();
    for (int i = 0; i < rank; ++i)
      along[AttentionShape::key - i] = rank - 1 - i;
    shape.bias = shape.queries.addOperand(3, along);
  }
  return shape;
}

namespace {
/// One block of queries.
class QueryBlock {
public:
  QueryBlock(KernelBuilder &b, const AttentionShape &shape, const AttentionRegime &regime, ArrayRef<Value> indices);

  void build();

private:
  using Shape = AttentionShape;
  /// What goes from one block of keys to the next: columns of largest scores and of sums, and the weighted values.
  struct State {
    Value maximum, sum, values;
  };

  const Size &size(int dim) const { return shape_.queries.dims[dim].size; }
  Value loadRows(const Space &space, int slot, std::array<int, 2> dims, Value row, int64_t rows,
                 ArrayRef<Value> position);
  Value column(Value tile, function_ref<Value(Value, Value)> combine);
  Value limitTile(Value index);
  Value placesApart();
  Value firstOfDiagonal();
  std::pair<Value, Value> visibleBlocks();
  Value seen(Value block);
  Value scores(Value keys, Value block);
  State advance(Value block, const State &before);
  void finish(const State &state);

  KernelBuilder &b_;
  const AttentionShape &shape_;
  const AttentionRegime &regime_;
  const AttentionAttributes &attributes_;
  DType input_, compute_;
  SmallVector<Value> position_, keysPosition_; ///< In the spaces of queries and of keys.
  Value row_;                                  ///< The block of queries.
  Value query_;
  Value apart_; ///< For each score, number of its key minus number of its query, within their blocks.
};
} // namespace

QueryBlock::QueryBlock(KernelBuilder &b, const AttentionShape &shape, const AttentionRegime &regime,
                       ArrayRef<Value> indices)
    : b_(b), shape_(shape), regime_(regime), attributes_(b.description().as<AttentionAttributes>()),
      input_(b.description().inputs[0].dtype), compute_(computeType(input_)), row_(indices[2]) {
  position_ = {indices[0], indices[1], {}, {}, {}};
  Value head = indices[1];
  if (shape.group > 1)
    head = arith::DivUIOp::create(b_, head, b_.index(shape.group));
  keysPosition_ = {indices[0], head, {}, {}};
}

//===--- tiles --------------------------------------------------------------------------------------------------===//

/// Whole rows of an operand, padded with zeros.
Value QueryBlock::loadRows(const Space &space, int slot, std::array<int, 2> dims, Value row, int64_t rows,
                           ArrayRef<Value> position) {
  b_.setPlace("inputs/" + space.operand(space.accesses[slot].operand).name);
  Value view = b_.slice(space, slot, dims, position);
  Value tile = load(b_, view, {row, b_.index(0)}, {rows, regime_.depth}, input_);
  b_.setPlace("op");
  return tile;
}

/// Combines the elements of each row into a column.
Value QueryBlock::column(Value tile, function_ref<Value(Value, Value)> combine) {
  Type element = valueType(b_.getContext(), compute_);
  auto reduce = tile::ReduceOp::create(b_, TypeRange(RankedTensorType::get({regime_.bm}, element)), tile, 1);
  {
    OpBuilder::InsertionGuard guard(b_);
    Block *block = b_.createBlock(&reduce.getCombiner(), {}, {element, element}, {b_.getLoc(), b_.getLoc()});
    tile::YieldOp::create(b_, combine(block->getArgument(0), block->getArgument(1)));
  }
  return tile::ExpandOp::create(b_, RankedTensorType::get({regime_.bm, 1}, element), reduce.getResult(0), 1);
}

//===--- who sees what ------------------------------------------------------------------------------------------===//

Value QueryBlock::placesApart() {
  auto along = [&](int64_t length, int axis) {
    Type element = b_.getI32Type();
    Value numbers = tile::IotaOp::create(b_, RankedTensorType::get({length}, element));
    SmallVector<int64_t> shape{axis == 0 ? 1 : length, axis == 0 ? length : 1};
    Value expanded = tile::ExpandOp::create(b_, RankedTensorType::get(shape, element), numbers, axis);
    return broadcastTo(b_, expanded, {regime_.bm, regime_.bn});
  };
  return arith::SubIOp::create(b_, along(regime_.bn, 0), along(regime_.bm, 1));
}

/// The last key that the first query of the block sees, which may be negative.
Value QueryBlock::firstOfDiagonal() {
  Value shift = arith::SubIOp::create(b_, b_.sizeValue(size(Shape::key)), b_.sizeValue(size(Shape::query)));
  return arith::AddIOp::create(b_, b_.mul(row_, b_.index(regime_.bm)), shift);
}

/// Blocks of keys that a query of the block sees: from the first to before the second.
std::pair<Value, Value> QueryBlock::visibleBlocks() {
  Value zero = b_.index(0), diagonal = firstOfDiagonal();
  Value keys = b_.sizeValue(size(Shape::key)), width = b_.index(regime_.bn);
  Value beyond = arith::MinSIOp::create(b_, arith::AddIOp::create(b_, diagonal, b_.index(regime_.bm)), keys);
  Value raised = arith::AddIOp::create(b_, arith::MaxSIOp::create(b_, beyond, zero), b_.index(regime_.bn - 1));
  Value last = arith::DivUIOp::create(b_, raised, width);
  if (!attributes_.window)
    return {zero, last};
  Value start = arith::SubIOp::create(b_, diagonal, b_.index(*attributes_.window - 1));
  return {arith::DivUIOp::create(b_, arith::MaxSIOp::create(b_, start, zero), width), last};
}

/// A tile that compares with placesApart(): an index where that lies among them, else one beyond them on its side.
Value QueryBlock::limitTile(Value index) {
  index = arith::MaxSIOp::create(b_, index, b_.index(-regime_.bm - 1));
  index = arith::MinSIOp::create(b_, index, b_.index(regime_.bn + 1));
  Value number = arith::IndexCastOp::create(b_, b_.getI32Type(), index);
  return tile::SplatOp::create(b_, RankedTensorType::get({regime_.bm, regime_.bn}, b_.getI32Type()), number);
}

/// Which scores of a block count; null: all. With a diagonal, no query of the operator sees keys beyond the last.
Value QueryBlock::seen(Value block) {
  if (!attributes_.causal) {
    if (tilesEvenly(b_.description(), size(Shape::key), regime_.bn))
      return {};
    Value inside = lanesInside(b_, size(Shape::key), block, regime_.bn);
    auto type = RankedTensorType::get({1, regime_.bn}, b_.getI1Type());
    return broadcastTo(b_, tile::ExpandOp::create(b_, type, inside, 0), {regime_.bm, regime_.bn});
  }
  Value last = arith::SubIOp::create(b_, firstOfDiagonal(), b_.mul(block, b_.index(regime_.bn)));
  Value mask = arith::CmpIOp::create(b_, arith::CmpIPredicate::sle, apart_, limitTile(last));
  if (!attributes_.window)
    return mask;
  Value before = limitTile(arith::SubIOp::create(b_, last, b_.index(*attributes_.window)));
  return arith::AndIOp::create(b_, mask, arith::CmpIOp::create(b_, arith::CmpIPredicate::sgt, apart_, before));
}

//===--- steps --------------------------------------------------------------------------------------------------===//

/// Scaled, capped, biased and masked.
Value QueryBlock::scores(Value keys, Value block) {
  std::array<int64_t, 2> tile{regime_.bm, regime_.bn};
  auto turned = RankedTensorType::get({regime_.depth, regime_.bn}, valueType(b_.getContext(), input_));
  keys = tile::TransposeOp::create(b_, turned, keys, ArrayRef<int64_t>{1, 0});
  Value zero = splat(b_, tile, compute_, 0);
  Value value = tile::DotOp::create(b_, zero.getType(), query_, keys, zero, tile::Precision::Ieee, false, false);
  double cap = attributes_.softcap.value_or(1);
  value = arith::MulFOp::create(b_, value, splatLike(b_, value, attributes_.scale / cap));
  if (attributes_.softcap)
    value = arith::MulFOp::create(b_, math::TanhOp::create(b_, value), splatLike(b_, value, cap));
  if (shape_.bias >= 0) {
    b_.setPlace("inputs/bias");
    std::array<int, 2> dims{Shape::query, Shape::key};
    std::array<Value, 2> coordinates{row_, block};
    Value bias = loadBroadcast(b_, {shape_.queries, dims, position_, coordinates, tile}, shape_.bias, compute_);
    b_.setPlace("op");
    value = arith::AddFOp::create(b_, value, bias);
  }
  if (Value mask = seen(block))
    value = arith::SelectOp::create(b_, mask, value, splatLike(b_, value, -std::numeric_limits<double>::infinity()));
  return value;
}

QueryBlock::State QueryBlock::advance(Value block, const State &before) {
  std::array<int64_t, 2> tile{regime_.bm, regime_.bn}, result{regime_.bm, regime_.depth};
  constexpr std::array<int, 2> rows{2, 3};
  Value score = scores(loadRows(shape_.keys, Shape::k, rows, block, regime_.bn, keysPosition_), block);
  auto largest = [&](Value x, Value y) { return larger(b_, x, y); };
  Value maximum = larger(b_, column(score, largest), before.maximum);
  Value lowest = splatLike(b_, maximum, -std::numeric_limits<double>::infinity());
  Value isEmpty = arith::CmpFOp::create(b_, arith::CmpFPredicate::OEQ, maximum, lowest);
  Value shift = arith::SelectOp::create(b_, isEmpty, splatLike(b_, maximum, 0), maximum);
  Value distance = arith::SubFOp::create(b_, score, broadcastTo(b_, shift, tile));
  Value weights = math::ExpOp::create(b_, distance);
  Value rescale = math::ExpOp::create(b_, arith::SubFOp::create(b_, before.maximum, shift));
  Value added = column(weights, [&](Value x, Value y) -> Value { return arith::AddFOp::create(b_, x, y); });
  Value sum = arith::AddFOp::create(b_, arith::MulFOp::create(b_, before.sum, rescale), added);
  Value carried = arith::MulFOp::create(b_, before.values, broadcastTo(b_, rescale, result));
  Value values = loadRows(shape_.keys, Shape::v, rows, block, regime_.bn, keysPosition_);
  Value rounded = convert(b_, weights, compute_, input_);
  return {maximum, sum,
          tile::DotOp::create(b_, carried.getType(), rounded, values, carried, tile::Precision::Ieee, false, false)};
}

/// A query without keys has the sum 0.
void QueryBlock::finish(const State &state) {
  std::array<int, 2> dims{Shape::query, Shape::element};
  auto put = [&](int slot, Value value) {
    const Operand &operand = shape_.queries.operand(shape_.queries.accesses[slot].operand);
    b_.setPlace("outputs/" + operand.name);
    Value view = b_.slice(shape_.queries, slot, dims, position_);
    store(b_, convert(b_, value, compute_, operand.dtype), view, {row_, b_.index(0)}, operand.dtype);
  };
  Value zero = splatLike(b_, state.sum, 0), one = splatLike(b_, state.sum, 1);
  Value hasNone = arith::CmpFOp::create(b_, arith::CmpFPredicate::OEQ, state.sum, zero);
  Value inverse = arith::DivFOp::create(b_, one, arith::SelectOp::create(b_, hasNone, one, state.sum));
  put(Shape::o, arith::MulFOp::create(b_, state.values, broadcastTo(b_, inverse, shapeOf(state.values))));
  if (shape_.lse < 0)
    return;
  b_.setPlace("op");
  put(shape_.lse, arith::AddFOp::create(b_, state.maximum, math::LogOp::create(b_, state.sum)));
}

void QueryBlock::build() {
  std::array<int, 2> dims{Shape::query, Shape::element};
  query_ = loadRows(shape_.queries, Shape::q, dims, row_, regime_.bm, position_);
  std::array<int64_t, 2> column{regime_.bm, 1}, result{regime_.bm, regime_.depth};
  Values start{splat(b_, column, compute_, -std::numeric_limits<double>::infinity()), splat(b_, column, compute_, 0),
               splat(b_, result, compute_, 0)};
  auto body = [&](Value block, ValueRange now) {
    State next = advance(block, {now[0], now[1], now[2]});
    return Values{next.maximum, next.sum, next.values};
  };
  Values end;
  if (attributes_.causal) {
    apart_ = placesApart();
    auto [first, last] = visibleBlocks();
    end = b_.loop(first, last, start, body);
  } else {
    end = b_.loop(GridDim{size(Shape::key), regime_.bn}, start, body);
  }
  finish({end[0], end[1], end[2]});
}

void buildAttention(KernelBuilder &b, const Schedule &schedule) {
  AttentionShape shape = attentionShape(b.description());
  auto size = [&](int dim) { return shape.queries.dims[dim].size; };
  for (const AttentionRegime &regime : schedule.attention(shape)) {
    KernelOptions options;
    options.warps = regime.warps;
    if (regime.maxQueries)
      options.when.push_back({size(AttentionShape::query), true, *regime.maxQueries});
    std::array<GridDim, 3> grid{GridDim{size(0)}, {size(1)}, {size(AttentionShape::query), regime.bm}};
    std::string name = "attention_" + std::to_string(regime.bm) + "x" + std::to_string(regime.bn);
    b.kernel(name, grid, options, [&](ArrayRef<Value> indices) { QueryBlock(b, shape, regime, indices).build(); });
  }
}

} // namespace tilejit::oplib
