// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Blocks of keys and values: their numbers, their places, their loads.

#include "AttentionKeys.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilejit::oplib {

AttentionKeys::AttentionKeys(KernelBuilder &b, const AttentionShape &shape, const AttentionRegime &regime, Value batch,
                             Value head)
    : b_(b), shape_(shape), regime_(regime), dtype_(b.description().inputs[1].dtype), batch_(batch), head_(head) {
  if (shape.isPaged())
    blocksOfPage_ = llvm::divideCeil(shape.page, regime.bn);
  count_ = shape.isPaged() ? findCount() : b.sizeValue(shape.size(AttentionShape::key));
}

//===--- lengths and tables -------------------------------------------------------------------------------------===//

/// An element of an operand of i32.
Value AttentionKeys::scalarOf(int operand, ArrayRef<Value> place) {
  const Operand &what = b_.description().inputs[operand];
  b_.setPlace("inputs/" + what.name);
  SmallVector<int64_t> one(place.size(), 1);
  auto type = RankedTensorType::get(one, b_.getI32Type());
  Value tile = tile::LoadOp::create(b_, type, b_.operandView(operand), place, tile::Pad::Zero);
  SmallVector<Value> first(place.size(), b_.index(0));
  Value number = tile::ExtractOp::create(b_, b_.getI32Type(), tile, first);
  b_.setPlace("op");
  return arith::IndexCastOp::create(b_, b_.getIndexType(), number);
}

/// Brings a number into the range from 0 to `most`.
Value AttentionKeys::clamped(Value number, Value most) {
  return arith::MaxSIOp::create(b_, arith::MinSIOp::create(b_, number, most), b_.index(0));
}

/// The length of a sequence, at most what its pages hold; none where there are no pages.
Value AttentionKeys::findCount() {
  Value most = b_.sizeValue(shape_.size(AttentionShape::key)), pages = b_.sizeValue(shape_.keys.dims[0].size);
  Value isEmpty = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, pages, b_.index(0));
  most = arith::SelectOp::create(b_, isEmpty, b_.index(0), most);
  return clamped(scalarOf(shape_.lengths, {batch_}), most);
}

/// A page in the cache.
Value AttentionKeys::findPage(Value number) {
  Value last = arith::SubIOp::create(b_, b_.sizeValue(shape_.keys.dims[0].size), b_.index(1));
  return clamped(scalarOf(shape_.table, {batch_, number}), last);
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
  return shape_.isPaged() ? blocksBefore(count_) : b_.countValue({shape_.size(AttentionShape::key), regime_.bn});
}

AttentionKeys::Block AttentionKeys::at(Value number) {
  Block block;
  block.number = number;
  if (!shape_.isPaged()) {
    block.first = b_.mul(number, b_.index(regime_.bn));
    if (!tilesEvenly(b_.description(), shape_.size(AttentionShape::key), regime_.bn))
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
  block.inPage = arith::MinSIOp::create(b_, arith::SubIOp::create(b_, count_, start), b_.index(shape_.page));
  block.first = offset ? b_.add(start, offset) : start;
  block.limit = offset ? arith::SubIOp::create(b_, block.inPage, offset).getResult() : block.inPage;
  return block;
}

Value AttentionKeys::load(int slot, const Block &block) {
  const Space &space = shape_.keys;
  b_.setPlace("inputs/" + space.operand(space.accesses[slot].operand).name);
  std::array<int64_t, 2> tile{regime_.bn, regime_.depth};
  Value view, row = block.number;
  if (shape_.isPaged()) {
    row = block.piece;
    view = b_.slice(space, slot, std::array{1, 3}, {block.page, {}, head_, {}}, block.inPage);
  } else {
    view = b_.slice(space, slot, std::array{2, 3}, {batch_, head_, {}, {}});
  }
  Value loaded = oplib::load(b_, view, {row, b_.index(0)}, tile, dtype_);
  b_.setPlace("op");
  return loaded;
}

} // namespace tilejit::oplib
