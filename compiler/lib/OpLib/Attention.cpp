// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Attention. A program instance takes a block of queries, of one head or of all heads that share keys, and goes once
// through the blocks of keys that any of them sees. It carries, for each query, the largest score so far, the sum of
// exponentials and the weighted sum of values, both relative to that score and scaled down where it grows. Scores stay
// -inf where a query does not see a key; a row that has only those subtracts 0 from them, so that no difference of
// infinities is formed. Where there are few queries, several instances share their keys; AttentionMerge.cpp puts
// together what they leave in the workspace.
//
// A regime may turn the tiles, so that queries lie side by side and keys below each other. What is done for each query
// then goes through whole vectors, and both products read keys and values as they lie.

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
  /// The axis of tiles that runs along the queries.
  int queryAxis() const { return regime_.isTurned ? 1 : 0; }
  /// A tile with so many elements for each query.
  std::array<int64_t, 2> shapeWith(int64_t each) const {
    return regime_.isTurned ? std::array{each, regime_.bm} : std::array{regime_.bm, each};
  }
  std::array<int64_t, 2> scoresShape() const { return shapeWith(regime_.bn); }
  Value turned(Value tile);
  /// What turned tiles are multiplied as.
  Value factors(Value tile) { return regime_.keepsType ? tile : convert(b_, tile, input_, compute_); }
  Value roundedWeights(Value weights);
  Value loadQueries();
  Value column(Value tile, function_ref<Value(Value, Value)> combine);
  Value spread(Value line, int axis);
  Value queryNumbers();
  Value placesApart();
  Value limitTile(Value index);
  Value distance();
  std::pair<Value, Value> visibleBlocks();
  std::pair<Value, Value> ownBlocks();
  Value keysThere(const KeyBlock &block);
  Value ownRows();
  Value seen(const KeyBlock &block);
  Value hidesSome(const KeyBlock &block);
  Value rowsSeen(const KeyBlock &block);
  Value upTo(Value rows, Value tile);
  Value masked(Value value, const KeyBlock &block);
  /// Whether what is masked is scaled afterwards: as it is read, and not in a pass of its own.
  bool scalesLast() const {
    return regime_.keepsType && !attributes_.softcap && shape_.bias < 0 && attributes_.scale > 0;
  }
  /// Whether products are scaled at once: those of turned tiles are of scaled queries, unless that would round them.
  bool isScaled() const { return !regime_.isTurned || (regime_.keepsType && !scalesLast()); }
  Value scaled(Value tile) { return arith::MulFOp::create(b_, tile, splatLike(b_, tile, scale())); }
  double scale() const { return attributes_.scale / attributes_.softcap.value_or(1); }
  Value products(Value keys, Value rows);
  Value scores(Value keys, Value rows, const KeyBlock &block);
  State advance(Value number, const State &before);
  Values passKeys(ValueRange before);
  Values passSequences(ValueRange before);
  void finish(State state);

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

Value QueryBlock::turned(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto result = RankedTensorType::get({type.getShape()[1], type.getShape()[0]}, type.getElementType());
  return tile::TransposeOp::create(b_, result, tile, ArrayRef<int64_t>{1, 0});
}

/// Whole rows, padded with zeros; turned ones are scaled where that does not round to their type.
Value QueryBlock::loadQueries() {
  b_.setPlace("inputs/q");
  Value view = b_.slice(space_, Shape::q, std::array<int, 2>{Shape::query, Shape::element}, position_);
  Value tile = load(b_, view, {row_, b_.index(0)}, {regime_.bm, regime_.depth}, input_);
  b_.setPlace("op");
  if (!regime_.isTurned)
    return tile;
  if (regime_.keepsType)
    return turned(tile);
  tile = convert(b_, tile, input_, compute_);
  return turned(arith::MulFOp::create(b_, tile, splatLike(b_, tile, scale())));
}

/// Combines the elements of each query into a column.
Value QueryBlock::column(Value tile, function_ref<Value(Value, Value)> combine) {
  int axis = 1 - queryAxis();
  return tile::ExpandOp::create(b_, tileType(b_, shapeWith(1), compute_), reduceAlong(b_, tile, axis, combine), axis);
}

/// A tile of the shape of the scores whose lines along an axis are all the same.
Value QueryBlock::spread(Value line, int axis) {
  SmallVector<int64_t> shape{1, 1};
  shape[axis] = shapeOf(line)[0];
  auto type = RankedTensorType::get(shape, cast<RankedTensorType>(line.getType()).getElementType());
  return broadcastTo(b_, tile::ExpandOp::create(b_, type, line, 1 - axis), scoresShape());
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
  Value keys = tile::IotaOp::create(b_, RankedTensorType::get(regime_.bn, b_.getI32Type()));
  return arith::SubIOp::create(b_, spread(keys, 1 - queryAxis()), spread(queryNumbers(), queryAxis()));
}

/// A tile that compares with placesApart(): an index where that lies among them, else one beyond them on its side.
Value QueryBlock::limitTile(Value index) {
  constexpr int64_t beyond = int64_t{1} << 24;
  index = arith::MaxSIOp::create(b_, index, b_.index(-beyond));
  index = arith::MinSIOp::create(b_, index, b_.index(beyond));
  return splatIndex(b_, RankedTensorType::get(scoresShape(), b_.getI32Type()), index);
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
  return spread(lanesBelow(b_, block.limit, regime_.bn), 1 - queryAxis());
}

/// Which scores belong to queries of the sequence at hand; null: all.
Value QueryBlock::ownRows() {
  if (!shape_.hasSequences())
    return {};
  auto type = RankedTensorType::get(regime_.bm, b_.getI32Type());
  Value rows = tile::IotaOp::create(b_, type);
  auto everywhere = [&](Value index) -> Value {
    index = arith::MinSIOp::create(b_, arith::MaxSIOp::create(b_, index, b_.index(0)), b_.index(regime_.bm));
    return splatIndex(b_, type, index);
  };
  Value begin = everywhere(arith::SubIOp::create(b_, b_.index(0), first_));
  Value end = everywhere(arith::SubIOp::create(b_, queries_, first_));
  Value inside = arith::AndIOp::create(b_, arith::CmpIOp::create(b_, arith::CmpIPredicate::sge, rows, begin),
                                       arith::CmpIOp::create(b_, arith::CmpIPredicate::slt, rows, end));
  return spread(inside, queryAxis());
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

/// Whether any score of a block may not count; null: that is not known.
Value QueryBlock::hidesSome(const KeyBlock &block) {
  Value any;
  auto orIf = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    Value condition = arith::CmpIOp::create(b_, predicate, x, y);
    any = any ? arith::OrIOp::create(b_, any, condition).getResult() : condition;
  };
  if (shape_.hasSequences()) {
    orIf(arith::CmpIPredicate::slt, first_, b_.index(0));
    orIf(arith::CmpIPredicate::slt, queries_, b_.add(first_, b_.index(regime_.bm)));
  }
  if (block.limit)
    orIf(arith::CmpIPredicate::slt, block.limit, b_.index(regime_.bn));
  if (seesAll())
    return any;
  if (regime_.isGrouped)
    return {};
  Value diagonal = b_.add(first_, distance());
  orIf(arith::CmpIPredicate::slt, diagonal, b_.add(block.first, b_.index(regime_.bn - 1)));
  if (attributes_.window) {
    Value start = b_.add(diagonal, b_.index(regime_.bm - 1 - *attributes_.window));
    orIf(arith::CmpIPredicate::sle, block.first, start);
  }
  return any;
}

/// -inf where a score does not count. Turned scores lie in memory, where blocks without such are left alone.
Value QueryBlock::masked(Value value, const KeyBlock &block) {
  auto select = [&]() -> Value {
    Value mask = seen(block);
    if (!mask)
      return value;
    return arith::SelectOp::create(b_, mask, value, splatLike(b_, value, -std::numeric_limits<double>::infinity()));
  };
  Value condition = regime_.isTurned ? hidesSome(block) : Value();
  if (!condition)
    return select();
  auto choice = scf::IfOp::create(b_, value.getType(), condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToEnd(choice.thenBlock());
  scf::YieldOp::create(b_, select());
  b_.setInsertionPointToEnd(choice.elseBlock());
  scf::YieldOp::create(b_, value);
  return choice.getResult(0);
}

/// Which keys of a block any query sees, and a few more, of turned tiles; null: all.
Value QueryBlock::rowsSeen(const KeyBlock &block) {
  Value end = block.limit;
  // Blocks that are as tall as they are wide have hardly any row that none of the others sees.
  if (!seesAll() && !regime_.isGrouped && regime_.bm < regime_.bn) {
    Value behind = arith::SubIOp::create(b_, b_.add(first_, distance()), block.first);
    Value seen = arith::MaxSIOp::create(b_, b_.add(behind, b_.index(regime_.bm)), b_.index(0));
    end = end ? arith::MinSIOp::create(b_, end, seen).getResult() : seen;
  }
  if (!end || !regime_.isTurned)
    return {};
  // By steps of a product, which then has none left over.
  constexpr int64_t together = 8;
  end = arith::MinSIOp::create(b_, end, b_.index(regime_.bn));
  end = arith::DivUIOp::create(b_, b_.add(end, b_.index(together - 1)), b_.index(together));
  return lanesBelow(b_, b_.mul(end, b_.index(together)), regime_.bn);
}

/// A tile with a row for each key of a block, zeros but for some: what the other rows hold is not computed.
Value QueryBlock::upTo(Value rows, Value tile) {
  if (!rows)
    return tile;
  auto type = RankedTensorType::get({regime_.bn, 1}, b_.getI1Type());
  Value mask = broadcastTo(b_, tile::ExpandOp::create(b_, type, rows, 1), shapeOf(tile));
  return arith::SelectOp::create(b_, mask, tile, splatLike(b_, tile, 0));
}

//===--- steps --------------------------------------------------------------------------------------------------===//

/// Each query times each key, scaled.
Value QueryBlock::products(Value keys, Value rows) {
  keys = regime_.isTurned ? upTo(rows, factors(keys)) : turned(keys);
  Value zero = splat(b_, scoresShape(), compute_, 0);
  auto dot = [&](Value x, Value y) -> Value {
    return tile::DotOp::create(b_, zero.getType(), x, y, zero, tile::Precision::Ieee, false, false);
  };
  Value value = regime_.isTurned ? dot(keys, query_) : dot(query_, keys);
  return isScaled() ? scaled(value) : value;
}

/// Scaled, capped, biased and masked.
Value QueryBlock::scores(Value keys, Value rows, const KeyBlock &block) {
  Value value = products(keys, rows);
  if (attributes_.softcap)
    value = arith::MulFOp::create(b_, math::TanhOp::create(b_, value), splatLike(b_, value, *attributes_.softcap));
  if (shape_.bias >= 0) {
    b_.setPlace("inputs/bias");
    std::array<int, 2> dims{Shape::query, Shape::key};
    std::array<Value, 2> coordinates{row_, block.number};
    std::array<int64_t, 2> tile{regime_.bm, regime_.bn};
    Value bias = loadBroadcast(b_, {space_, dims, position_, coordinates, tile}, shape_.bias, compute_);
    b_.setPlace("op");
    value = arith::AddFOp::create(b_, value, regime_.isTurned ? turned(bias) : bias);
  }
  value = masked(value, block);
  return scalesLast() ? scaled(value) : value;
}

/// Without subnormal numbers, which products of bf16 pairs do not take.
Value QueryBlock::roundedWeights(Value weights) {
  if (!regime_.keepsType)
    return weights;
  Value least = splatLike(b_, weights, 0x1p-126), magnitude = math::AbsFOp::create(b_, weights);
  Value isTiny = arith::CmpFOp::create(b_, arith::CmpFPredicate::OLT, magnitude, least);
  weights = arith::SelectOp::create(b_, isTiny, splatLike(b_, weights, 0), weights);
  return convert(b_, weights, compute_, input_);
}

QueryBlock::State QueryBlock::advance(Value number, const State &before) {
  KeyBlock block = keys_->at(number);
  if (regime_.looksAhead)
    keys_->prefetch(keys_->at(b_.add(number, b_.index(1))));
  Value rows = rowsSeen(block), score = scores(keys_->load(Shape::k, block), rows, block);
  auto largest = [&](Value x, Value y) { return larger(b_, x, y); };
  Value maximum = larger(b_, column(score, largest), before.maximum), shift = finiteOrZero(b_, maximum);
  Value weights = math::ExpOp::create(b_, arith::SubFOp::create(b_, score, broadcastTo(b_, shift, scoresShape())));
  Value rescale = math::ExpOp::create(b_, arith::SubFOp::create(b_, before.maximum, shift));
  Value added = column(weights, [&](Value x, Value y) -> Value { return arith::AddFOp::create(b_, x, y); });
  Value sum = arith::AddFOp::create(b_, arith::MulFOp::create(b_, before.sum, rescale), added);
  Value carried = arith::MulFOp::create(b_, before.values, broadcastTo(b_, rescale, shapeWith(regime_.depth)));
  Value values = keys_->load(Shape::v, block);
  auto dot = [&](Value x, Value y) -> Value {
    return tile::DotOp::create(b_, carried.getType(), x, y, carried, tile::Precision::Ieee, false, false);
  };
  if (regime_.isTurned)
    return {maximum, sum, dot(turned(upTo(rows, factors(values))), upTo(rows, roundedWeights(weights)))};
  return {maximum, sum, dot(convert(b_, weights, compute_, input_), values)};
}

void QueryBlock::finish(State state) {
  if (regime_.isTurned)
    state = {turned(state.maximum), turned(state.sum), turned(state.values)};
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
  Values start{splat(b_, shapeWith(1), compute_, -std::numeric_limits<double>::infinity()),
               splat(b_, shapeWith(1), compute_, 0), splat(b_, shapeWith(regime_.depth), compute_, 0)};
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
