// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products of bf16 pairs. x86's instruction rounds to the nearest, takes subnormal elements for zero and makes sums
// that would be subnormal zero (Intel's instruction set reference, VDPBF16PS). The latter costs at most 2^-126 for each
// term, whatever the elements. The former could cost the whole result, so where an operand holds subnormal elements its
// pairs are made wide and go through ordinary multiply-adds.

#include "Dot.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

/// One half of each pair as f32: bf16 is the upper half of one.
static Value half(KernelLowering &l, Value pairs, bool upper) {
  auto type = cast<VectorType>(pairs.getType());
  VectorType integers = l.e.vector(l.b.getI32Type(), type.getNumElements());
  Value bits = arith::BitcastOp::create(l.b, l.e.loc, integers, pairs);
  if (upper)
    bits = arith::AndIOp::create(l.b, l.e.loc, bits, l.e.intConstant(integers, 0xffff0000));
  else
    bits = arith::ShLIOp::create(l.b, l.e.loc, bits, l.e.intConstant(integers, 16));
  return arith::BitcastOp::create(l.b, l.e.loc, type, bits);
}

Value tilejit::cpu::addPairs(KernelLowering &l, Value a, Value b, Value sum, bool keepsSubnormals) {
  if (keepsSubnormals) {
    for (bool upper : {false, true})
      sum = math::FmaOp::create(l.b, l.e.loc, half(l, a, upper), half(l, b, upper), sum);
    return sum;
  }
  return addGroups(l, "avx512bf16.dpbf16ps", l.b.getBF16Type(), a, b, sum);
}

/// Whether any lane is below a number, unsigned.
static Value anyBelow(KernelLowering &l, Value lanes, int64_t number) {
  auto type = cast<VectorType>(lanes.getType());
  Value below = arith::CmpIOp::create(l.b, l.e.loc, arith::CmpIPredicate::ult, lanes, l.e.intConstant(type, number));
  Type mask = l.b.getIntegerType(type.getNumElements());
  below = LLVM::BitcastOp::create(l.b, l.e.loc, mask, below);
  return arith::CmpIOp::create(l.b, l.e.loc, arith::CmpIPredicate::ne, below, l.e.intConstant(mask, 0));
}

constexpr int64_t smallestNormal = 0x80; // Bits of 2^-126.

FailureOr<Value> tilejit::cpu::holdsSubnormals(KernelLowering &l, Value pairs, Index rows, Index steps,
                                               int64_t stride) {
  constexpr int64_t magnitude = 0x7fff;
  Type lane = l.b.getI32Type();
  VectorType elements = l.e.vector(l.b.getI16Type(), 2 * l.lanes);
  auto number = [&](int64_t value) { return l.e.intConstant(elements, value); };
  // Magnitudes less one, so that zero is the largest of all.
  SmallVector<Value> least{number(-1)};
  LogicalResult done = l.loop(0, rows, 1, least, [&](Index row, SmallVectorImpl<Value> &outer) {
    Value start = l.e.address(pairs, l.e.mul(row, stride), lane);
    return l.loop(0, steps, l.lanes, outer, [&](Index at, SmallVectorImpl<Value> &inner) {
      Value bits = l.e.load(elements, l.e.address(start, at, lane));
      bits = arith::AndIOp::create(l.b, l.e.loc, bits, number(magnitude));
      bits = arith::AddIOp::create(l.b, l.e.loc, bits, number(-1));
      // What follows the last step of a row is anything.
      if (!steps.isConstant() || steps.constant % l.lanes)
        if (Value mask = l.e.laneMask(l.e.mul(l.e.sub(steps, at), 2), 2 * l.lanes))
          bits = arith::SelectOp::create(l.b, l.e.loc, mask, bits, number(-1));
      inner[0] = arith::MinUIOp::create(l.b, l.e.loc, inner[0], bits);
      return success();
    });
  });
  if (failed(done))
    return failure();
  return anyBelow(l, least[0], smallestNormal - 1);
}

FailureOr<Value> tilejit::cpu::smallestMagnitudes(KernelLowering &l, Value pairs, Index rows, int64_t columns) {
  constexpr int64_t magnitude = 0x7fff;
  VectorType elements = l.e.vector(l.b.getI16Type(), 2 * l.lanes);
  SmallVector<Value> least(columns / l.lanes, l.e.intConstant(elements, -1));
  if (failed(l.loop(0, rows, 1, least, [&](Index row, SmallVectorImpl<Value> &state) {
        Value start = l.e.address(pairs, l.e.mul(row, columns), l.b.getI32Type());
        for (auto [i, smallest] : llvm::enumerate(state)) {
          Value bits = l.e.load(elements, l.e.address(start, static_cast<int64_t>(i) * l.lanes, l.b.getI32Type()));
          bits = arith::AndIOp::create(l.b, l.e.loc, bits, l.e.intConstant(elements, magnitude));
          smallest = arith::MinUIOp::create(l.b, l.e.loc, smallest, bits);
        }
        return success();
      })))
    return failure();
  for (size_t i = 1; i < least.size(); ++i)
    least[0] = arith::MinUIOp::create(l.b, l.e.loc, least[0], least[i]);
  return least[0];
}

FailureOr<Value> tilejit::cpu::holdsSubnormals(KernelLowering &l, Value smallest, Value pairs, Index count) {
  Value suspected = anyBelow(l, smallest, smallestNormal);
  auto choice = scf::IfOp::create(l.b, l.e.loc, l.b.getI1Type(), suspected, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(l.b);
  Block *then = choice.thenBlock();
  l.b.setInsertionPointToEnd(then);
  FailureOr<Value> found = failure();
  {
    ScopeGuard scope(l, then, nullptr);
    found = holdsSubnormals(l, pairs, 1, count, 0);
  }
  if (failed(found))
    return failure();
  l.b.setInsertionPointToEnd(then);
  scf::YieldOp::create(l.b, l.e.loc, *found);
  l.b.setInsertionPointToEnd(choice.elseBlock());
  scf::YieldOp::create(l.b, l.e.loc, l.e.intConstant(l.b.getI1Type(), 0));
  return Value(choice.getResult(0));
}

FailureOr<Value> tilejit::cpu::rowsHoldSubnormals(KernelLowering &l, Value matrix, Index rows, int64_t columns,
                                                  Index stride) {
  constexpr int64_t magnitude = 0x7fff;
  Type element = l.b.getI16Type();
  int64_t width = 2 * l.lanes;
  VectorType elements = l.e.vector(element, width);
  auto number = [&](int64_t value) { return l.e.intConstant(elements, value); };
  SmallVector<Value> least{number(-1)};
  LogicalResult done = l.loop(0, rows, 1, least, [&](Index row, SmallVectorImpl<Value> &state) {
    Value start = l.e.address(matrix, l.e.mul(row, stride), element);
    for (int64_t at = 0; at < columns; at += width) {
      Value bits = l.e.load(elements, l.e.address(start, at, element), l.e.laneMask(columns - at, width), number(0));
      bits = arith::AndIOp::create(l.b, l.e.loc, bits, number(magnitude));
      // Zero becomes the largest of all.
      bits = arith::AddIOp::create(l.b, l.e.loc, bits, number(-1));
      state[0] = arith::MinUIOp::create(l.b, l.e.loc, state[0], bits);
    }
    return success();
  });
  if (failed(done))
    return failure();
  return anyBelow(l, least[0], smallestNormal - 1);
}

FailureOr<Value> tilejit::cpu::packPairs(KernelLowering &l, Value tile, Index pairs, int64_t columns, Value destination,
                                         Operation *op) {
  FailureOr<Value> smallestAt = l.allocateBytes(4 * l.lanes, op);
  if (failed(smallestAt) || failed(l.packGroups(tile, 2, pairs, 0, columns, destination, *smallestAt)))
    return failure();
  Value smallest = l.e.load(l.e.vector(l.b.getI16Type(), 2 * l.lanes), *smallestAt);
  return holdsSubnormals(l, smallest, destination, l.e.mul(pairs, columns));
}

//===-- operands of products in place
//----------------------------------------------------------------------------===//

/// Recognises what x86 does to a subnormal number that it rounds to bf16: |x| < 2^-126 ? 0 : x.
Value tilejit::cpu::roundedSource(KernelLowering &l, Value tile) {
  auto convert = l.stored(tile) ? tile::FpToFpOp() : tile.getDefiningOp<tile::FpToFpOp>();
  if (!convert || convert.getRounding() != tile::Rounding::NearestEven)
    return {};
  Value flushed = convert.getSource();
  auto select = l.stored(flushed) ? arith::SelectOp() : flushed.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  auto magnitude = compare ? compare.getLhs().getDefiningOp<math::AbsFOp>() : math::AbsFOp();
  APFloat bound(0.0f);
  if (!magnitude || compare.getPredicate() != arith::CmpFPredicate::OLT || !isZero(select.getTrueValue()) ||
      magnitude.getOperand() != select.getFalseValue() || !matchPattern(compare.getRhs(), m_ConstantFloat(&bound)) ||
      bound.convertToFloat() != 0x1p-126F)
    return {};
  return select.getFalseValue();
}

LogicalResult tilejit::cpu::roundPairs(KernelLowering &l, Value source, Index pairs, int64_t columns,
                                       Value destination) {
  SmallVector<Value> nothing;
  SmallVector<int64_t> interleaved;
  for (int64_t i = 0; i < l.lanes; ++i)
    interleaved.append({i, l.lanes + i});
  VectorType rounded = l.e.vector(l.b.getBF16Type(), 2 * l.lanes), bits = l.e.vector(l.b.getI16Type(), 2 * l.lanes);
  VectorType lanes = l.e.vector(l.b.getI32Type(), l.lanes);
  std::string name = ("llvm.x86.avx512bf16.cvtne2ps2bf16." + Twine(32 * l.lanes)).str();
  return l.loop(0, pairs, 1, nothing, [&](Index pair, auto &) {
    for (int64_t at = 0; at < columns; at += l.lanes) {
      Value low = l.evaluate(source, Segment{{l.e.mul(pair, 2), at}, 1, l.lanes});
      Value high = l.evaluate(source, Segment{{l.e.add(l.e.mul(pair, 2), 1), at}, 1, l.lanes});
      if (!low || !high)
        return failure();
      Value both = LLVM::CallIntrinsicOp::create(l.b, l.e.loc, rounded, l.b.getStringAttr(name), ValueRange{high, low})
                       .getResult(0);
      both = LLVM::BitcastOp::create(l.b, l.e.loc, bits, both);
      both = LLVM::BitcastOp::create(l.b, l.e.loc, lanes, l.e.shuffle(both, both, interleaved));
      l.e.store(both, l.e.address(destination, l.e.add(l.e.mul(pair, columns), at), l.b.getI32Type()));
    }
    return success();
  });
}

bool tilejit::cpu::isMultipliedByPairs(KernelLowering &l, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (!l.model.pairs || l.lanes < 4 || !type.getElementType().isBF16() || type.getRank() != 2 || type.getShape()[0] % 2)
    return false;
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    auto dot = dyn_cast<tile::DotOp>(user);
    if (!dot || dot.getB() != tile || dot.getA() == tile || dot.getPrecision() != tile::Precision::Ieee)
      return false;
    auto result = cast<RankedTensorType>(dot.getType());
    return getElementTypeOrSelf(dot.getA().getType()).isBF16() && result.getElementType().isF32() &&
           result.getShape()[0] > skinnyRows && result.getShape()[1] > 1;
  });
}

LogicalResult tilejit::cpu::storePairs(KernelLowering &l, Value tile) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tile.getType()).getShape();
  Operation *op = tile.getDefiningOp();
  int64_t pairs = shape[0] / 2, columns = llvm::alignTo(shape[1], l.lanes);
  // Squares may reach beyond the last pair.
  FailureOr<Value> memory = l.allocateBytes(4 * columns * llvm::alignTo(pairs, l.lanes), op);
  if (failed(memory))
    return failure();
  if (failed(l.packGroups(tile, 2, pairs, 0, columns, *memory)))
    return failure();
  FailureOr<Value> found = holdsSubnormals(l, *memory, 1, pairs * columns, 0);
  if (failed(found))
    return failure();
  Stored place;
  place.buffer.pointer = *memory;
  place.buffer.strides = {columns, 1};
  place.isPaired = true;
  place.holdsSubnormals = *found;
  l.setStored(tile, place);
  return success();
}
