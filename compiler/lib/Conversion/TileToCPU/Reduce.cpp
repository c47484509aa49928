// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile.reduce. Along the lanes: up to four running vectors a row, combined pairwise, then halved until one lane is
// left. Along another dimension: one running vector for each vector of the result. The order is fixed by the tile's
// shape alone. The first elements start a running value, so no neutral element is needed and any combiner will do.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

namespace {
class Reducer {
public:
  Reducer(KernelLowering &l, tile::ReduceOp op)
      : l(l), op(op), shape(cast<RankedTensorType>(op.getInputs()[0].getType()).getShape()), axis(op.getAxis()),
        lane(KernelLowering::laneDimension(shape)) {}

  LogicalResult run();

private:
  using Values = SmallVector<Value, 2>;
  bool evaluate(const Segment &segment, Values &out);
  bool combine(ArrayRef<Value> left, ArrayRef<Value> right, Values &out) {
    return l.combineRegion(op.getCombiner(), left, right, out);
  }
  bool combineWhere(Value mask, Values &running, ArrayRef<Value> next);
  bool foldLanes(Values &running, int64_t valid);
  bool reduceRow(Segment segment, Values &out);
  bool reduceColumn(Segment segment, MutableArrayRef<Values> running);
  LogicalResult intoRegisters();
  LogicalResult intoMemory();
  Segment inputSegment(const Segment &result);

  KernelLowering &l;
  tile::ReduceOp op;
  ArrayRef<int64_t> shape;
  int axis, lane;
};
} // namespace

bool Reducer::evaluate(const Segment &segment, Values &out) {
  out.clear();
  for (Value input : op.getInputs()) {
    out.push_back(l.evaluate(input, segment));
    if (!out.back())
      return false;
  }
  return true;
}

/// running = combine(running, next) in the lanes of the mask (null: all).
bool Reducer::combineWhere(Value mask, Values &running, ArrayRef<Value> next) {
  Values combined;
  if (!combine(running, next, combined))
    return false;
  for (auto [value, old] : llvm::zip(combined, running))
    old = mask ? Value(arith::SelectOp::create(l.b, l.e.loc, mask, value, old)) : value;
  return true;
}

/// Combines the first `valid` lanes into lane 0 and takes it.
bool Reducer::foldLanes(Values &running, int64_t valid) {
  int64_t width = cast<VectorType>(running[0].getType()).getNumElements();
  while (valid > 1) {
    int64_t half = (valid + 1) / 2;
    Values upper;
    for (Value value : running)
      upper.push_back(l.e.upperLanes(value, half, valid));
    // With an odd count the middle lane has no partner.
    Value mask = valid % 2 ? l.e.laneMask(valid - half, width) : Value();
    if (!combineWhere(mask, running, upper))
      return false;
    valid = half;
  }
  for (Value &value : running)
    value = l.e.lane(value, 0);
  return true;
}

/// One row, along the lanes.
bool Reducer::reduceRow(Segment segment, Values &out) {
  int64_t size = shape[axis], width = l.lanes;
  segment.dim = axis;
  segment.width = width;
  bool inRegisters = llvm::any_of(op.getInputs(), [&](Value input) { return l.readsRegisters(input); });
  int64_t whole = size / width, segments = llvm::divideCeil(size, width);
  bool unroll = inRegisters && segments <= 16;
  int64_t count = unroll ? std::max<int64_t>(whole, 1) : whole >= 4 ? 4 : whole >= 2 ? 2 : 1;

  SmallVector<Values> running(count);
  for (int64_t i = 0; i < count; ++i) {
    segment.at[axis] = i * width;
    if (!evaluate(segment, running[i]))
      return false;
  }
  if (segments > count) {
    SmallVector<Value> carried;
    for (Values &values : running)
      carried.append(values.begin(), values.end());
    unsigned inputs = op.getInputs().size();
    auto step = [&](Index at, bool checked, Value mask, unsigned which, SmallVectorImpl<Value> &state) -> bool {
      Values next, old(state.begin() + which * inputs, state.begin() + (which + 1) * inputs);
      segment.at[axis] = at;
      segment.checked = checked;
      if (!evaluate(segment, next) || !combineWhere(mask, old, next))
        return false;
      llvm::copy(old, state.begin() + which * inputs);
      return true;
    };
    int64_t block = count * width;
    Index limit = unroll ? Index(0) : l.uncheckedLimit(segment, size, op.getInputs());
    Index middle = l.e.add(l.e.roundDown(l.e.max(l.e.sub(limit, block), 0), block), block);
    if (failed(l.loop(block, middle, block, carried, [&](Index at, SmallVectorImpl<Value> &state) {
          for (int64_t i = 0; i < count; ++i)
            if (!step(l.e.add(at, i * width), false, {}, i, state))
              return failure();
          return success();
        })))
      return false;
    if (failed(l.loop(middle, size, width, carried, [&](Index at, SmallVectorImpl<Value> &state) {
          Value mask = size % width ? l.e.laneMask(l.e.sub(size, at), width) : Value();
          return success(step(at, true, mask, 0, state));
        })))
      return false;
    for (auto [i, values] : llvm::enumerate(running))
      llvm::copy(ArrayRef<Value>(carried).slice(i * inputs, inputs), values.begin());
  }
  for (int64_t left = count; left > 1; left = llvm::divideCeil(left, 2)) {
    int64_t half = llvm::divideCeil(left, 2);
    for (int64_t i = 0; i + half < left; ++i)
      if (!combineWhere({}, running[i], running[i + half]))
        return false;
  }
  out = running[0];
  return foldLanes(out, std::min(size, width));
}

/// Segments side by side, along a dimension across the lanes.
bool Reducer::reduceColumn(Segment segment, MutableArrayRef<Values> running) {
  Index first = segment.dim < 0 ? Index(0) : segment.at[segment.dim];
  auto visit = [&](Index at, auto &&use) -> bool {
    segment.at[axis] = at;
    for (unsigned i = 0; i < running.size(); ++i) {
      if (segment.dim >= 0)
        segment.at[segment.dim] = l.e.add(first, i * segment.width);
      if (!use(i))
        return false;
    }
    return true;
  };
  if (!visit(0, [&](unsigned i) { return evaluate(segment, running[i]); }))
    return false;
  unsigned inputs = op.getInputs().size();
  SmallVector<Value> carried;
  for (Values &values : running)
    carried.append(values.begin(), values.end());
  if (failed(l.loop(1, shape[axis], 1, carried, [&](Index at, SmallVectorImpl<Value> &state) {
        return success(visit(at, [&](unsigned i) {
          Values next, old(state.begin() + i * inputs, state.begin() + (i + 1) * inputs);
          if (!evaluate(segment, next) || !combineWhere({}, old, next))
            return false;
          llvm::copy(old, state.begin() + i * inputs);
          return true;
        }));
      })))
    return false;
  for (auto [i, values] : llvm::enumerate(running))
    llvm::copy(ArrayRef<Value>(carried).slice(i * inputs, inputs), values.begin());
  return true;
}

Segment Reducer::inputSegment(const Segment &result) {
  Segment segment = result;
  segment.at.insert(segment.at.begin() + axis, Index(0));
  if (segment.dim >= axis)
    ++segment.dim;
  return segment;
}

LogicalResult Reducer::intoRegisters() {
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  SmallVector<SmallVector<Value>> results(op.getNumResults());
  auto keep = [&](ArrayRef<Value> values) {
    for (auto [list, value] : llvm::zip(results, values))
      list.push_back(value);
  };
  constexpr int64_t group = 4;
  int64_t perRow = l.registerLanes(type) == 1 ? 1 : llvm::divideCeil(type.getShape().back(), l.registerLanes(type));
  LogicalResult done = l.forEachRegister(type, [&](unsigned number, const Segment &place) {
    Segment segment = inputSegment(place);
    if (axis == lane) {
      Values out;
      if (!reduceRow(segment, out))
        return failure();
      return keep(out), success();
    }
    // Registers side by side don't wait for each other.
    int64_t column = number % perRow;
    if (column % group)
      return success();
    SmallVector<Values> running(std::min(group, perRow - column));
    if (!reduceColumn(segment, running))
      return failure();
    return llvm::for_each(running, keep), success();
  });
  if (failed(done))
    return failure();
  for (auto [result, list] : llvm::zip(op.getResults(), results))
    l.setStored(result, l.registersOf(cast<RankedTensorType>(result.getType()), list));
  return success();
}

LogicalResult Reducer::intoMemory() {
  SmallVector<Buffer> buffers;
  for (Value result : op.getResults()) {
    FailureOr<Buffer> buffer = l.allocate(cast<RankedTensorType>(result.getType()), op);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  auto write = [&](const Segment &place, ArrayRef<Value> values) {
    for (auto [buffer, value, result] : llvm::zip(buffers, values, op.getResults()))
      l.writeBuffer(buffer, getElementTypeOrSelf(result.getType()), place, value);
  };
  ArrayRef<int64_t> resultShape = cast<RankedTensorType>(op.getResult(0).getType()).getShape();
  SmallVector<Index> limits(resultShape);
  SmallVector<Value> nothing;
  int resultLane = axis == lane ? -1 : lane > axis ? lane - 1 : lane;
  if (resultLane >= 0)
    limits[resultLane] = 1;
  LogicalResult done = l.forEachSegment(limits, -1, {}, nothing, [&](const Segment &outer, Index, auto &) {
    Segment place = outer;
    if (axis == lane) {
      Values out;
      if (!reduceRow(inputSegment(place), out))
        return failure();
      return write(place, out), success();
    }
    place.dim = resultLane;
    place.width = l.lanes;
    constexpr int64_t group = 4;
    Segment row = inputSegment(place);
    row.at[axis] = shape[axis] - 1;
    Index limit = l.e.max(l.uncheckedLimit(row, shape[lane], op.getInputs()), 0);
    Index middle = l.e.roundDown(limit, group * l.lanes);
    auto columns = [&](Index at, int64_t count, bool checked) -> LogicalResult {
      place.at[resultLane] = at;
      Segment segment = inputSegment(place);
      segment.checked = checked;
      SmallVector<Values> running(count);
      if (!reduceColumn(segment, running))
        return failure();
      for (int64_t i = 0; i < count; ++i) {
        place.at[resultLane] = l.e.add(at, i * l.lanes);
        write(place, running[i]);
      }
      return success();
    };
    if (failed(
            l.loop(0, middle, group * l.lanes, nothing, [&](Index at, auto &) { return columns(at, group, false); })))
      return failure();
    return l.loop(middle, shape[lane], l.lanes, nothing, [&](Index at, auto &) { return columns(at, 1, true); });
  });
  if (failed(done))
    return failure();
  for (auto [result, buffer] : llvm::zip(op.getResults(), buffers)) {
    Stored place;
    place.buffer = buffer;
    l.setStored(result, place);
  }
  return success();
}

LogicalResult Reducer::run() {
  for (Value result : op.getResults())
    if (!isa<RankedTensorType>(result.getType()))
      return l.refuse(op, "expected tiles as results");
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  bool few = l.registerCount(type) <= (axis == lane ? 4 : 8);
  if (axis == lane && l.registerLanes(type) != 1)
    few = false;
  return few ? intoRegisters() : intoMemory();
}

static LogicalResult lowerReduce(KernelLowering &l, Operation *op) {
  return Reducer(l, cast<tile::ReduceOp>(op)).run();
}

void tilejit::cpu::registerReduce(OpTables &tables) { tables.eager[tile::ReduceOp::getOperationName()] = lowerReduce; }
