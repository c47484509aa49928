// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Attention. A program instance takes a block of queries, of one head or of all heads that share keys, and goes once
// through the blocks of keys that any of them sees. It carries, for each query, the largest score so far, the sum of
// exponentials and the weighted sum of values, both relative to that score and scaled down where it grows. Scores stay
// -inf where a query does not see a key; a row that has only those subtracts 0 from them, so that no difference of
// infinities is formed. Where there are few queries, several instances share their keys; AttentionMerge.cpp puts
// together what they leave in the workspace.

#include "AttentionKeys.h"
#include "AttentionMerge.h"
#include "Epilogue.h"
#include "Generators.h"

#include <limits>

using namespace mlir;

namespace tilejit::oplib {

//===--- shape --------------------------------------------------------------------------------------------------===//

/// The space of queries with all operands that lie in it.
static void addQueries(AttentionShape &shape, const Description &description, const Size &keys) {
  Space &space = shape.queries;
  const Operand &q = description.inputs[0];
  for (int dim : {0, 1, 2})
    space.addDim(q.shape[dim]);
  space.dims.push_back({keys});
  space.addDim(q.shape[3]);
  int outputs = static_cast<int>(description.inputs.size());
  for (int operand : {0, outputs})
    space.addOperand(operand, std::array{0, 1, 2, -1, 3});
  if (description.outputs.size() > 1)
    shape.lse = space.addOperand(outputs + 1, std::array{0, 1, 2, -1, -1});
  if (int bias = description.inputIndex("bias"); bias >= 0) {
    std::array along{-1, -1, -1, -1, -1};
    int rank = description.inputs[bias].rank();
    for (int i = 0; i < rank; ++i)
      along[AttentionShape::key - i] = rank - 1 - i;
    shape.bias = space.addOperand(bias, along);
  }
  // What steps of the epilogue read comes after all other inputs.
  int first = outputs;
  for (const EpilogueStep &step : description.epilogue)
    if (step.input >= 0)
      first = std::min(first, step.input);
  shape.firstSlot = static_cast<int>(space.accesses.size()) - first;
  for (int operand = first; operand < outputs; ++operand) {
    std::array along{-1, -1, -1, -1, -1};
    constexpr std::array dims{4, 2, 1, 0};
    int rank = description.inputs[operand].rank();
    for (int i = 0; i < rank; ++i)
      along[dims[i]] = rank - 1 - i;
    space.addOperand(operand, along);
  }
}

AttentionShape attentionShape(const Description &description) {
  const Operand &q = description.inputs[0], &k = description.inputs[1];
  AttentionShape shape{Space(description), std::nullopt, Space(description), 1};
  for (const Dim &dim : k.shape)
    shape.keys.addDim(dim);
  for (int operand : {1, 2})
    shape.keys.addOperand(operand, std::array{0, 1, 2, 3});
  Size keys = Size::of(k.shape[2]);
  int64_t keyHeads = k.shape[1].size;
  if (description.family == Family::AttentionDecode) {
    shape.table = description.inputIndex("block_table");
    shape.lengths = description.inputIndex("seq_lens");
    shape.page = k.shape[1].size;
    keyHeads = k.shape[2].size;
    keys = *Size::of(description.inputs[shape.table].shape[1]).times({shape.page, -1});
  }
  shape.queryStarts = description.inputIndex("cu_seqlens_q");
  shape.keyStarts = description.inputIndex("cu_seqlens_k");
  shape.group = q.shape[1].size / keyHeads;
  addQueries(shape, description, keys);
  shape.grouped = shape.queries;
  shape.grouped->split(AttentionShape::head, shape.group);
  if (!shape.grouped->merge(AttentionShape::head + 1))
    shape.grouped.reset();
  return shape;
}

//===--- a block of queries -------------------------------------------------------------------------------------===//

namespace {
class QueryBlock {
public:
  /// `indices`: batch, head and block, and the part of the keys where instances share them.
  QueryBlock(KernelBuilder &b, const AttentionShape &shape, const AttentionRegime &regime, ArrayRef<Value> indices);

  void build();

private:
  using Shape = AttentionShape;
  using KeyBlock = AttentionKeys::Block;
  using State = AttentionState;

  bool isOneQuery() const { return shape_.size(Shape::query).isOne() && !shape_.hasSequences(); }
  /// Whether all queries see the same keys.
  bool seesAll() const { return !attributes_.causal || (isOneQuery() && !attributes_.window); }
  Value loadQueries();
  Value column(Value tile, function_ref<Value(Value, Value)> combine);
  Value queryNumbers();
  Value placesApart();
  Value limitTile(Value index);
  Value distance();
  std::pair<Value, Value> visibleBlocks();
  std::pair<Value, Value> ownBlocks();
  Value keysThere(const KeyBlock &block);
  Value ownRows();
  Value seen(const KeyBlock &block);
  Value scores(Value keys, const KeyBlock &block);
  State advance(Value number, const State &before);
  Values passKeys(ValueRange before);
  Values passSequences(ValueRange before);
  void finish(const State &state);

  KernelBuilder &b_;
  const AttentionShape &shape_;
  const AttentionRegime &regime_;
  const AttentionAttributes &attributes_;
  const Space &space_; ///< Of the rows.
  DType input_, compute_;
  SmallVector<Value> position_; ///< In the space.
  Value row_, part_;
  std::optional<AttentionKeys> keys_; ///< Of the sequence at hand.
  Value queries_;                     ///< Number of its queries.
  Value query_;
  Value first_; ///< Number of the query that counts as 0 in placesApart(); negative before the sequence.
  Value apart_; ///< For each score, number of its key in the block minus that of its query, counted from `first_`.
};
} // namespace

static Value keyHead(KernelBuilder &b, const AttentionShape &shape, const AttentionRegime &regime, Value head) {
  if (regime.isGrouped || shape.group == 1)
    return head;
  return arith::DivUIOp::create(b, head, b.index(shape.group));
}

QueryBlock::QueryBlock(KernelBuilder &b, const AttentionShape &shape, const AttentionRegime &regime,
                       ArrayRef<Value> indices)
    : b_(b), shape_(shape), regime_(regime), attributes_(b.description().as<AttentionAttributes>()),
      space_(shape.rowsOf(regime.isGrouped)), input_(b.description().inputs[0].dtype), compute_(computeType(input_)),
      position_{indices[0], indices[1], {}, {}, {}}, row_(indices[2]),
      part_(indices.size() > 3 ? indices[3] : Value()) {}

//===--- tiles --------------------------------------------------------------------------------------------------===//

/// Whole rows, padded with zeros.
Value QueryBlock::loadQueries() {
  b_.setPlace("inputs/q");
  Value view = b_.slice(space_, Shape::q, std::array<int, 2>{Shape::query, Shape::element}, position_);
  Value tile = load(b_, view, {row_, b_.index(0)}, {regime_.bm, regime_.depth}, input_);
  b_.setPlace("op");
  return tile;
}

/// Combines the elements of each row into a column.
Value QueryBlock::column(Value tile, function_ref<Value(Value, Value)> combine) {
  return tile::ExpandOp::create(b_, tileType(b_, {regime_.bm, 1}, compute_), reduceAlong(b_, tile, 1, combine), 1);
}

//===--- who sees what ------------------------------------------------------------------------------------------===//

/// Numbers of the rows' queries, counted from `first_`: tile [bm].
Value QueryBlock::queryNumbers() {
  auto type = RankedTensorType::get(regime_.bm, b_.getI32Type());
  Value first = b_.mul(row_, b_.index(regime_.bm)), numbers = tile::IotaOp::create(b_, type);
  if (!regime_.isGrouped) {
    first_ = first;
    return numbers;
  }
  first_ = b_.index(0);
  if (isOneQuery())
    return splatInt(b_, type, 0);
  // A size of 0 has no rows.
  Value queries = arith::MaxSIOp::create(b_, b_.sizeValue(shape_.size(Shape::query)), b_.index(1));
  Value start = arith::RemUIOp::create(b_, first, queries);
  numbers = arith::AddIOp::create(b_, numbers, splatIndex(b_, type, start));
  return arith::RemUIOp::create(b_, numbers, splatIndex(b_, type, queries));
}

Value QueryBlock::placesApart() {
  auto spread = [&](Value numbers, int axis) {
    SmallVector<int64_t> shape{1, 1};
    shape[1 - axis] = shapeOf(numbers)[0];
    Value expanded = tile::ExpandOp::create(b_, RankedTensorType::get(shape, b_.getI32Type()), numbers, axis);
    return broadcastTo(b_, expanded, {regime_.bm, regime_.bn});
  };
  Value keys = tile::IotaOp::create(b_, RankedTensorType::get(regime_.bn, b_.getI32Type()));
  return arith::SubIOp::create(b_, spread(keys, 0), spread(queryNumbers(), 1));
}

/// A tile that compares with placesApart(): an index where that lies among them, else one beyond them on its side.
Value QueryBlock::limitTile(Value index) {
  constexpr int64_t beyond = int64_t{1} << 24;
  index = arith::MaxSIOp::create(b_, index, b_.index(-beyond));
  index = arith::MinSIOp::create(b_, index, b_.index(beyond));
  return splatIndex(b_, RankedTensorType::get({regime_.bm, regime_.bn}, b_.getI32Type()), index);
}

/// How far the last key that a query sees is ahead of the query; may be negative.
Value QueryBlock::distance() { return arith::SubIOp::create(b_, keys_->count(), queries_); }

/// Blocks of keys that a query of the block sees: from the first to before the second.
std::pair<Value, Value> QueryBlock::visibleBlocks() {
  Value zero = b_.index(0), end = keys_->blocks();
  if (seesAll())
    return {zero, end};
  Value diagonal = b_.add(first_, distance()); // The last key that the first query sees.
  if (!regime_.isGrouped) {
    Value beyond = arith::AddIOp::create(b_, diagonal, b_.index(regime_.bm));
    end = keys_->blocksBefore(arith::MinSIOp::create(b_, beyond, keys_->count()));
  }
  if (!attributes_.window)
    return {zero, end};
  Value start = arith::SubIOp::create(b_, diagonal, b_.index(*attributes_.window - 1));
  return {keys_->blockOf(arith::MaxSIOp::create(b_, start, zero)), end};
}

/// The visible blocks that this instance goes through.
std::pair<Value, Value> QueryBlock::ownBlocks() {
  auto [first, end] = visibleBlocks();
  if (!part_)
    return {first, end};
  Value count = arith::MaxSIOp::create(b_, arith::SubIOp::create(b_, end, first), b_.index(0));
  Value raised = arith::AddIOp::create(b_, count, b_.index(regime_.split - 1));
  Value length = arith::DivUIOp::create(b_, raised, b_.index(regime_.split));
  Value start = b_.add(first, b_.mul(part_, length));
  return {start, arith::MinSIOp::create(b_, b_.add(start, length), end)};
}

/// Which scores belong to keys that there are; null: all.
Value QueryBlock::keysThere(const KeyBlock &block) {
  if (!block.limit)
    return {};
  Value inside = lanesBelow(b_, block.limit, regime_.bn);
  auto row = RankedTensorType::get({1, regime_.bn}, b_.getI1Type());
  return broadcastTo(b_, tile::ExpandOp::create(b_, row, inside, 0), {regime_.bm, regime_.bn});
}

/// Which scores belong to queries of the sequence at hand; null: all.
Value QueryBlock::ownRows() {
  if (!shape_.hasSequences())
    return {};
  auto type = RankedTensorType::get(regime_.bm, b_.getI32Type());
  Value rows = tile::IotaOp::create(b_, type);
  auto spread = [&](Value index) -> Value {
    index = arith::MinSIOp::create(b_, arith::MaxSIOp::create(b_, index, b_.index(0)), b_.index(regime_.bm));
    return splatIndex(b_, type, index);
  };
  Value begin = spread(arith::SubIOp::create(b_, b_.index(0), first_));
  Value end = spread(arith::SubIOp::create(b_, queries_, first_));
  Value inside = arith::AndIOp::create(b_, arith::CmpIOp::create(b_, arith::CmpIPredicate::sge, rows, begin),
                                       arith::CmpIOp::create(b_, arith::CmpIPredicate::slt, rows, end));
  auto column = RankedTensorType::get({regime_.bm, 1}, b_.getI1Type());
  return broadcastTo(b_, tile::ExpandOp::create(b_, column, inside, 1), {regime_.bm, regime_.bn});
}

/// Which scores of a block count; null: all.
Value QueryBlock::seen(const KeyBlock &block) {
  Value mask = ownRows();
  auto both = [&](Value condition) {
    if (condition)
      mask = mask ? arith::AndIOp::create(b_, mask, condition).getResult() : condition;
  };
  if (seesAll()) {
    both(keysThere(block));
    return mask;
  }
  // No query of the operator sees keys beyond the last; but those of a page may end before the block does.
  if (shape_.page % regime_.bn)
    both(keysThere(block));
  Value last = arith::SubIOp::create(b_, b_.add(first_, distance()), block.first);
  both(arith::CmpIOp::create(b_, arith::CmpIPredicate::sle, apart_, limitTile(last)));
  if (attributes_.window) {
    Value before = limitTile(arith::SubIOp::create(b_, last, b_.index(*attributes_.window)));
    both(arith::CmpIOp::create(b_, arith::CmpIPredicate::sgt, apart_, before));
  }
  return mask;
}

//===--- steps --------------------------------------------------------------------------------------------------===//

/// Scaled, capped, biased and masked.
Value QueryBlock::scores(Value keys, const KeyBlock &block) {
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
    std::array<Value, 2> coordinates{row_, block.number};
    Value bias = loadBroadcast(b_, {space_, dims, position_, coordinates, tile}, shape_.bias, compute_);
    b_.setPlace("op");
    value = arith::AddFOp::create(b_, value, bias);
  }
  if (Value mask = seen(block))
    value = arith::SelectOp::create(b_, mask, value, splatLike(b_, value, -std::numeric_limits<double>::infinity()));
  return value;
}

QueryBlock::State QueryBlock::advance(Value number, const State &before) {
  std::array<int64_t, 2> tile{regime_.bm, regime_.bn}, result{regime_.bm, regime_.depth};
  KeyBlock block = keys_->at(number);
  if (regime_.looksAhead)
    keys_->prefetch(keys_->at(b_.add(number, b_.index(1))));
  Value score = scores(keys_->load(Shape::k, block), block);
  auto largest = [&](Value x, Value y) { return larger(b_, x, y); };
  Value maximum = larger(b_, column(score, largest), before.maximum), shift = finiteOrZero(b_, maximum);
  Value weights = math::ExpOp::create(b_, arith::SubFOp::create(b_, score, broadcastTo(b_, shift, tile)));
  Value rescale = math::ExpOp::create(b_, arith::SubFOp::create(b_, before.maximum, shift));
  Value added = column(weights, [&](Value x, Value y) -> Value { return arith::AddFOp::create(b_, x, y); });
  Value sum = arith::AddFOp::create(b_, arith::MulFOp::create(b_, before.sum, rescale), added);
  Value carried = arith::MulFOp::create(b_, before.values, broadcastTo(b_, rescale, result));
  Value values = keys_->load(Shape::v, block);
  Value rounded = convert(b_, weights, compute_, input_);
  return {maximum, sum,
          tile::DotOp::create(b_, carried.getType(), rounded, values, carried, tile::Precision::Ieee, false, false)};
}

void QueryBlock::finish(const State &state) {
  if (part_)
    return AttentionParts(b_, shape_, regime_.split).store(regime_, position_[0], position_[1], row_, part_, state);
  storeAttention(b_, shape_, space_, position_, row_, state);
}

/// Goes through the keys of the sequence at hand.
Values QueryBlock::passKeys(ValueRange before) {
  auto [first, last] = ownBlocks();
  return b_.loop(first, last, before, [&](Value number, ValueRange now) {
    State next = advance(number, {now[0], now[1], now[2]});
    return Values{next.maximum, next.sum, next.values};
  });
}

/// Goes through the keys of each sequence that has a query in the block; the rows of the others stay as they are.
Values QueryBlock::passSequences(ValueRange before) {
  Value row = b_.mul(row_, b_.index(regime_.bm));
  auto [begin, end] = sequencesOf(b_, shape_, row, regime_.bm);
  Value head = keyHead(b_, shape_, regime_, position_[1]);
  return b_.loop(begin, end, before, [&](Value number, ValueRange now) {
    IndexRange queries = sequenceRange(b_, shape_.queryStarts, number, shape_.size(Shape::query));
    IndexRange keys = sequenceRange(b_, shape_.keyStarts, number, shape_.size(Shape::key));
    keys_.emplace(b_, shape_, regime_, position_[0], head, keys);
    queries_ = queries.count;
    first_ = arith::SubIOp::create(b_, row, queries.first);
    return passKeys(now);
  });
}

void QueryBlock::build() {
  query_ = loadQueries();
  std::array<int64_t, 2> column{regime_.bm, 1}, result{regime_.bm, regime_.depth};
  Values start{splat(b_, column, compute_, -std::numeric_limits<double>::infinity()), splat(b_, column, compute_, 0),
               splat(b_, result, compute_, 0)};
  if (!seesAll())
    apart_ = placesApart();
  if (shape_.hasSequences()) {
    start = passSequences(start);
  } else {
    queries_ = b_.sizeValue(shape_.size(Shape::query));
    keys_.emplace(b_, shape_, regime_, position_[0], keyHead(b_, shape_, regime_, position_[1]));
    start = passKeys(start);
  }
  finish({start[0], start[1], start[2]});
}

//===--- kernels ------------------------------------------------------------------------------------------------===//

static KernelOptions optionsOf(const AttentionShape &shape, const AttentionRegime &regime) {
  KernelOptions options;
  options.warps = regime.warps;
  if (regime.maxQueries)
    options.when.push_back({shape.size(AttentionShape::query), true, *regime.maxQueries});
  if (regime.maxBatches)
    options.when.push_back({shape.size(0), true, *regime.maxBatches});
  return options;
}

void buildAttention(KernelBuilder &b, const Schedule &schedule) {
  AttentionShape shape = attentionShape(b.description());
  for (const AttentionRegime &regime : schedule.attention(shape)) {
    const Space &space = shape.rowsOf(regime.isGrouped);
    KernelOptions options = optionsOf(shape, regime);
    auto size = [&](int dim) { return space.dims[dim].size; };
    SmallVector<GridDim, 4> grid{GridDim{size(0)}, {size(1)}, {size(AttentionShape::query), regime.bm}};
    std::string name = "attention_" + std::to_string(regime.bm) + "x" + std::to_string(regime.bn);
    if (regime.split == 1) {
      b.kernel(name, grid, options, [&](ArrayRef<Value> indices) { QueryBlock(b, shape, regime, indices).build(); });
      continue;
    }
    // Heads run fastest: those of one page lie side by side.
    options.workspace = AttentionParts(b, shape, regime.split).bytes(regime);
    SmallVector<GridDim, 4> partsGrid{grid[0], {{regime.split, -1}}, grid[2], grid[1]};
    b.kernel(name + "_parts", partsGrid, options,
             [&](ArrayRef<Value> at) { QueryBlock(b, shape, regime, {at[0], at[3], at[2], at[1]}).build(); });
    options.phase = 1;
    buildAttentionMerge(b, shape, regime, name + "_merge", options);
  }
}

} // namespace tilejit::oplib
