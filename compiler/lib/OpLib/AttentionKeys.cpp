// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Blocks of keys and values: their numbers, their places, their loads.

#include "AttentionKeys.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilejit::oplib {

//===--- lengths and tables -------------------------------------------------------------------------------------===//

/// The one element of a tile of i32.
static Value elementOf(KernelBuilder &b, Value tile) {
  SmallVector<Value> first(shapeOf(tile).size(), b.index(0));
  Value number = tile::ExtractOp::create(b, b.getI32Type(), tile, first);
  return arith::IndexCastOp::create(b, b.getIndexType(), number);
}

/// An element of an operand of i32.
static Value scalarOf(KernelBuilder &b, int operand, ArrayRef<Value> place) {
  b.setPlace("inputs/" + b.description().inputs[operand].name);
  auto type = RankedTensorType::get(SmallVector<int64_t>(place.size(), 1), b.getI32Type());
  Value tile = tile::LoadOp::create(b, type, b.operandView(operand), place, tile::Pad::Zero);
  b.setPlace("op");
  return elementOf(b, tile);
}

/// Brings a number into the range from 0 to `most`.
static Value clamped(KernelBuilder &b, Value number, Value most) {
  return arith::MaxSIOp::create(b, arith::MinSIOp::create(b, number, most), b.index(0));
}

IndexRange sequenceRange(KernelBuilder &b, int starts, Value number, const Size &size) {
  Value all = b.sizeValue(size), first = clamped(b, scalarOf(b, starts, {number}), all);
  Value end = clamped(b, scalarOf(b, starts, {b.add(number, b.index(1))}), all);
  return {first, arith::MaxSIOp::create(b, arith::SubIOp::create(b, end, first), b.index(0))};
}

/// Counts starts, many at a time: as many sequences begin at or before the first row as the number of the one that
/// holds it, and one more.
std::pair<Value, Value> sequencesOf(KernelBuilder &b, const AttentionShape &shape, Value first, int64_t rows) {
  constexpr int64_t together = 64;
  Size count = Size::of(b.description().inputs[shape.queryStarts].shape[0]);
  auto type = RankedTensorType::get({1, together}, b.getI32Type());
  Value last = b.add(first, b.index(rows - 1));
  Value atFirst = splatIndex(b, type, first), atLast = splatIndex(b, type, last);
  Values none(2, splatInt(b, type, 0));
  Values found = b.loop(GridDim{count, together}, none, [&](Value block, ValueRange now) {
    b.setPlace("inputs/cu_seqlens_q");
    auto line = RankedTensorType::get(together, b.getI32Type());
    Value starts = tile::LoadOp::create(b, line, b.operandView(shape.queryStarts), block, tile::Pad::Highest);
    b.setPlace("op");
    starts = tile::ExpandOp::create(b, type, starts, 0);
    auto counted = [&](Value before, Value limit) -> Value {
      Value isBefore = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, starts, limit);
      return arith::AddIOp::create(b, before, arith::ExtUIOp::create(b, type, isBefore));
    };
    return Values{counted(now[0], atFirst), counted(now[1], atLast)};
  });
  Value sequences = arith::SubIOp::create(b, b.sizeValue(count), b.index(1));
  auto total = [&](Value counts) {
    return elementOf(
        b, reduceAlong(b, counts, 1, [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, x, y); }));
  };
  Value begin = arith::SubIOp::create(b, total(found[0]), b.index(1));
  return {clamped(b, begin, sequences), clamped(b, total(found[1]), sequences)};
}

AttentionKeys::AttentionKeys(KernelBuilder &b, const AttentionShape &shape, const AttentionRegime &regime, Value batch,
                             Value head, IndexRange range)
    : b_(b), shape_(shape), regime_(regime), dtype_(b.description().inputs[1].dtype), batch_(batch), head_(head),
      start_(range.first) {
  if (shape.isPaged())
    blocksOfPage_ = llvm::divideCeil(shape.page, regime.bn);
  count_ = range.count ? range.count : shape.isPaged() ? findCount() : b.sizeValue(shape.size(AttentionShape::key));
}

/// The length of a sequence, at most what its pages hold; none where there are no pages.
Value AttentionKeys::findCount() {
  Value most = b_.sizeValue(shape_.size(AttentionShape::key)), pages = b_.sizeValue(shape_.keys.dims[0].size);
  Value isEmpty = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, pages, b_.index(0));
  most = arith::SelectOp::create(b_, isEmpty, b_.index(0), most);
  return clamped(b_, scalarOf(b_, shape_.lengths, {batch_}), most);
}

/// A page in the cache.
Value AttentionKeys::findPage(Value number) {
  Value last = arith::SubIOp::create(b_, b_.sizeValue(shape_.keys.dims[0].size), b_.index(1));
  return clamped(b_, scalarOf(b_, shape_.table, {batch_, number}), last);
}

//===--- blocks -------------------------------------------------------------------------------------------------===//

Value AttentionKeys::blockOf(Value key) {
  if (!shape_.isPaged())
    return arith::DivUIOp::create(b_, key, b_.index(regime_.bn));
  Value page = arith::DivUIOp::create(b_, key, b_.index(shape_.page));
  if (blocksOfPage_ == 1)
    return page;
  Value inPage = arith::RemUIOp::create(b_, key, b_.index(shape_.page));
  Value piece = arith::DivUIOp::create(b_, inPage, b_.index(regime_.bn));
  return b_.add(b_.mul(page, b_.index(blocksOfPage_)), piece);
}

Value AttentionKeys::blocksBefore(Value end) {
  Value one = b_.index(1), isNone = arith::CmpIOp::create(b_, arith::CmpIPredicate::sle, end, b_.index(0));
  Value last = arith::MaxSIOp::create(b_, arith::SubIOp::create(b_, end, one), b_.index(0));
  return arith::SelectOp::create(b_, isNone, b_.index(0), b_.add(blockOf(last), one));
}

Value AttentionKeys::blocks() {
  if (shape_.isPaged() || start_)
    return blocksBefore(count_);
  return b_.countValue({shape_.size(AttentionShape::key), regime_.bn});
}

AttentionKeys::Block AttentionKeys::at(Value number) {
  Block block;
  block.number = number;
  if (!shape_.isPaged()) {
    block.first = b_.mul(number, b_.index(regime_.bn));
    if (start_ || !tilesEvenly(b_.description(), shape_.size(AttentionShape::key), regime_.bn))
      block.limit = arith::SubIOp::create(b_, count_, block.first);
    return block;
  }
  Value page = number, offset;
  block.piece = b_.index(0);
  if (blocksOfPage_ > 1) {
    page = arith::DivUIOp::create(b_, number, b_.index(blocksOfPage_));
    block.piece = arith::RemUIOp::create(b_, number, b_.index(blocksOfPage_));
    offset = b_.mul(block.piece, b_.index(regime_.bn));
  }
  block.page = findPage(page);
  Value start = b_.mul(page, b_.index(shape_.page));
  // None in a block that is beyond the last, which is announced but not loaded.
  block.inPage = clamped(b_, arith::SubIOp::create(b_, count_, start), b_.index(shape_.page));
  block.first = offset ? b_.add(start, offset) : start;
  block.limit = offset ? arith::SubIOp::create(b_, block.inPage, offset).getResult() : block.inPage;
  return block;
}

/// The keys of the range.
Value AttentionKeys::rowsOf(Value view) {
  auto type = cast<tile::ViewType>(view.getType());
  SmallVector<int64_t> shape{ShapedType::kDynamic, type.getShape()[1]}, strides;
  for (int64_t dim : {0, 1})
    strides.push_back(type.getStaticStride(dim));
  auto part = tile::ViewType::get(shape, type.getElementType(), strides, 0);
  return tile::SubviewOp::create(b_, part, view, ValueRange{start_, b_.index(0)}, ValueRange{count_});
}

/// What holds a block: the page, or all keys in a row.
Value AttentionKeys::viewOf(int slot, const Block &block) {
  const Space &space = shape_.keys;
  b_.setPlace("inputs/" + space.operand(space.accesses[slot].operand).name);
  if (shape_.isPaged())
    return b_.slice(space, slot, std::array{1, 3}, {block.page, {}, head_, {}}, block.inPage);
  Value view = b_.slice(space, slot, std::array{2, 3}, {batch_, head_, {}, {}});
  return start_ ? rowsOf(view) : view;
}

Value AttentionKeys::load(int slot, const Block &block) {
  std::array<int64_t, 2> tile{regime_.bn, regime_.depth};
  Value loaded = oplib::load(b_, viewOf(slot, block), {rowOf(block), b_.index(0)}, tile, dtype_);
  b_.setPlace("op");
  return loaded;
}

void AttentionKeys::prefetch(const Block &block) {
  for (int slot : {AttentionShape::k, AttentionShape::v})
    tile::PrefetchOp::create(b_, viewOf(slot, block), ValueRange{rowOf(block), b_.index(0)},
                             ArrayRef<int64_t>{regime_.bn, regime_.depth});
  b_.setPlace("op");
}

} // namespace tilejit::oplib
