// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Places in the workspace, and the merge: each part is scaled from its own largest score to that of all.

#include "AttentionMerge.h"

#include "Epilogue.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace tilejit::oplib {

AttentionParts::AttentionParts(KernelBuilder &b, const AttentionShape &shape, int64_t split)
    : b_(b), shape_(shape), split_(split), depth_(shape.size(AttentionShape::element).factor),
      compute_(computeType(b.description().inputs[0].dtype)) {}

/// At most as many rows as the regime is taken for, since launch rules are affine.
AffineExpr AttentionParts::bytes(const AttentionRegime &regime) {
  const Size &queries = shape_.size(AttentionShape::query);
  int64_t most = regime.maxQueries.value_or(largest(b_.description(), queries));
  int64_t each = shape_.size(AttentionShape::head).factor * most * split_ * (depth_ + 2) * storageBytes(compute_);
  return b_.sizeExpr(shape_.size(0)) * each;
}

Value AttentionParts::view(Value offset, ArrayRef<int64_t> shape, ValueRange sizes, int64_t stride) {
  Value base = tile::AddPtrOp::create(b_, b_.workspace(), b_.mul(offset, b_.index(storageBytes(compute_))));
  Type element = valueType(b_.getContext(), compute_);
  return tile::ViewOp::create(b_, tile::ViewType::get(shape, element, {stride, 1}, 0), base, sizes, ValueRange());
}

Value AttentionParts::firstRow(const Space &space, Value batch, Value head) {
  Value before = b_.add(b_.mul(batch, b_.sizeValue(space.dims[AttentionShape::head].size)), head);
  return b_.mul(before, b_.sizeValue(space.dims[AttentionShape::query].size));
}

Value AttentionParts::columnStart(int number) {
  Value rows = b_.sizeValue(shape_.size(0));
  for (int dim : {AttentionShape::head, AttentionShape::query})
    rows = b_.mul(rows, b_.sizeValue(shape_.size(dim)));
  return b_.mul(rows, b_.index((depth_ + number) * split_));
}

void AttentionParts::store(const AttentionRegime &regime, Value batch, Value head, Value block, Value part,
                           const AttentionState &state) {
  const Space &space = shape_.rowsOf(regime.isGrouped);
  const Size &rows = space.dims[AttentionShape::query].size;
  Value start = b_.add(b_.mul(firstRow(space, batch, head), b_.index(split_)), part), zero = b_.index(0);
  int64_t count = rows.isStatic() ? rows.factor : ShapedType::kDynamic;
  SmallVector<Value, 1> sizes;
  if (!rows.isStatic())
    sizes.push_back(b_.sizeValue(rows));
  auto put = [&](Value offset, int64_t width, Value tile) {
    tile::StoreOp::create(b_, tile, view(offset, {count, width}, sizes, split_ * width), {block, zero});
  };
  put(b_.mul(start, b_.index(depth_)), depth_, state.values);
  put(b_.add(columnStart(0), start), 1, state.maximum);
  put(b_.add(columnStart(1), start), 1, state.sum);
}

AttentionState AttentionParts::load(const AttentionRegime &regime, Value batch, Value head, Value query) {
  Value row = b_.add(firstRow(shape_.queries, batch, head), query);
  Value start = b_.mul(row, b_.index(split_)), zero = b_.index(0);
  int64_t parts = llvm::bit_ceil(uint64_t(split_));
  auto get = [&](Value offset, int64_t width, int64_t padded, tile::Pad pad) {
    Value from = view(offset, {split_, width}, {}, width);
    return oplib::load(b_, from, {zero, zero}, {parts, padded}, compute_, pad);
  };
  return {get(b_.add(columnStart(0), start), 1, 1, tile::Pad::Lowest),
          get(b_.add(columnStart(1), start), 1, 1, tile::Pad::Zero),
          get(b_.mul(start, b_.index(depth_)), depth_, regime.depth, tile::Pad::Zero)};
}

//===--- results ------------------------------------------------------------------------------------------------===//

void storeAttention(KernelBuilder &b, const AttentionShape &shape, const Space &space, ArrayRef<Value> position,
                    Value row, const AttentionState &state) {
  static constexpr std::array<int, 2> dims{AttentionShape::query, AttentionShape::element};
  DType compute = computeType(b.description().inputs[0].dtype);
  std::array<Value, 2> coordinates{row, b.index(0)};
  auto put = [&](int slot, Value value) {
    const Operand &operand = space.operand(space.accesses[slot].operand);
    b.setPlace("outputs/" + operand.name);
    Value view = b.slice(space, slot, dims, position);
    store(b, convert(b, value, compute, operand.dtype), view, coordinates, operand.dtype);
    b.setPlace("op");
  };
  Value inverse = inverseOfSum(b, state.sum);
  Value mean = arith::MulFOp::create(b, state.values, broadcastTo(b, inverse, shapeOf(state.values)));
  EpilogueTile tile{space, dims, position, coordinates, shapeOf(mean), shape.firstSlot};
  put(AttentionShape::o, applyEpilogue(b, tile, {mean, compute}).value);
  if (shape.lse >= 0)
    put(shape.lse, arith::AddFOp::create(b, state.maximum, math::LogOp::create(b, state.sum)));
}

//===--- merge --------------------------------------------------------------------------------------------------===//

void buildAttentionMerge(KernelBuilder &b, const AttentionShape &shape, const AttentionRegime &regime, StringRef name,
                         const KernelOptions &options) {
  const Space &space = shape.queries;
  std::array<GridDim, 3> grid{GridDim{shape.size(0)}, {shape.size(1)}, {shape.size(AttentionShape::query)}};
  b.kernel(name, grid, options, [&](ArrayRef<Value> at) {
    AttentionState parts = AttentionParts(b, shape, regime.split).load(regime, at[0], at[1], at[2]);
    DType compute = computeType(b.description().inputs[0].dtype);
    auto overParts = [&](Value tile, function_ref<Value(Value, Value)> combine) -> Value {
      std::array<int64_t, 2> row{1, shapeOf(tile)[1]};
      return tile::ExpandOp::create(b, tileType(b, row, compute), reduceAlong(b, tile, 0, combine), 0);
    };
    auto plus = [&](Value x, Value y) -> Value { return arith::AddFOp::create(b, x, y); };
    Value maximum = overParts(parts.maximum, [&](Value x, Value y) { return larger(b, x, y); });
    Value shift = broadcastTo(b, finiteOrZero(b, maximum), shapeOf(parts.maximum));
    Value scale = math::ExpOp::create(b, arith::SubFOp::create(b, parts.maximum, shift));
    Value sum = overParts(arith::MulFOp::create(b, parts.sum, scale), plus);
    Value scaled = arith::MulFOp::create(b, parts.values, broadcastTo(b, scale, shapeOf(parts.values)));
    storeAttention(b, shape, space, {at[0], at[1], {}, {}, {}}, at[2], {maximum, sum, overParts(scaled, plus)});
  });
}

} // namespace tilejit::oplib
