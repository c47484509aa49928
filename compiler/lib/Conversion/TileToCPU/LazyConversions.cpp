// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tile dialect's conversions: saturation and out-of-range integers are spelled out here with comparisons, so that
// what remains is a plain rounding of arith.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

static SmallVector<Segment, 3> sameSegment(KernelLowering &, Operation *, const Segment &segment) { return {segment}; }

static Type like(Type shape, Type element) {
  if (auto vector = dyn_cast<VectorType>(shape))
    return VectorType::get(vector.getShape(), element);
  return element;
}

static Value select(KernelLowering &l, Value condition, Value x, Value y) {
  return arith::SelectOp::create(l.b, l.e.loc, condition, x, y);
}

static Value compare(KernelLowering &l, arith::CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(l.b, l.e.loc, predicate, x, y);
}

/// Widens to f32 what is narrower: exact for all types but f8E8M0, whose values f32 holds too.
static Value widen(KernelLowering &l, Value x) {
  auto type = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  if (type.getWidth() >= 32)
    return x;
  return arith::ExtFOp::create(l.b, l.e.loc, like(x.getType(), l.b.getF32Type()), x);
}

static Value combineFpToFp(KernelLowering &l, Operation *op, const Segment &, ArrayRef<Value> tiles) {
  auto convert = cast<tile::FpToFpOp>(op);
  Value x = tiles.empty() ? l.scalar(convert.getSource()) : tiles[0];
  auto to = cast<FloatType>(getElementTypeOrSelf(convert.getType()));
  auto from = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  if (to == from)
    return x;
  const llvm::fltSemantics &narrow = to.getFloatSemantics();
  if (convert.getSaturate()) {
    x = widen(l, x);
    const llvm::fltSemantics &wide = cast<FloatType>(getElementTypeOrSelf(x.getType())).getFloatSemantics();
    auto bound = [&](bool negative) {
      bool loses = false;
      llvm::APFloat value = llvm::APFloat::getLargest(narrow, negative);
      value.convert(wide, llvm::APFloat::rmTowardZero, &loses);
      return l.e.floatConstant(x.getType(), value);
    };
    Value high = bound(false), low = bound(true);
    x = select(l, compare(l, arith::CmpFPredicate::OGT, x, high), high, x);
    x = select(l, compare(l, arith::CmpFPredicate::OLT, x, low), low, x);
  }
  from = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  if (from == to)
    return x;
  Type type = like(x.getType(), to);
  // Between narrow types of which neither holds the other: through f32, which holds both.
  if (from.getWidth() < 32 && to.getWidth() < 32)
    x = widen(l, x);
  else if (from.getWidth() < to.getWidth())
    return arith::ExtFOp::create(l.b, l.e.loc, type, x);
  auto mode = convert.getRounding() == tile::Rounding::TowardZero ? arith::RoundingMode::toward_zero
                                                                  : arith::RoundingMode::to_nearest_even;
  return arith::TruncFOp::create(l.b, l.e.loc, type, x, arith::RoundingModeAttr::get(l.b.getContext(), mode),
                                 arith::FastMathFlagsAttr());
}

static Value combineFpToInt(KernelLowering &l, Operation *op, const Segment &, ArrayRef<Value> tiles) {
  auto convert = cast<tile::FpToIntOp>(op);
  Value x = widen(l, tiles.empty() ? l.scalar(convert.getSource()) : tiles[0]);
  auto to = cast<IntegerType>(registerType(getElementTypeOrSelf(convert.getType()), true));
  bool isSigned = convert.getSignedness() == tile::Signedness::Signed;
  unsigned bits = to.getWidth();
  // Small results go through i32, where the CPU has the conversion.
  unsigned work = bits < 32 ? 32 : bits;
  Type workType = like(x.getType(), l.b.getIntegerType(work)), type = like(x.getType(), to);
  auto power = [&](unsigned exponent, bool negative) {
    llvm::APFloat value = scalbn(llvm::APFloat(1.0), exponent, llvm::APFloat::rmNearestTiesToEven);
    if (negative)
      value.changeSign();
    bool loses = false;
    value.convert(cast<FloatType>(getElementTypeOrSelf(x.getType())).getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &loses);
    return l.e.floatConstant(x.getType(), value);
  };
  Value limit = power(isSigned ? bits - 1 : bits, false);
  Value least = isSigned ? power(bits - 1, true) : l.e.floatConstant(x.getType(), 0.0);
  Value tooHigh = compare(l, arith::CmpFPredicate::OGE, x, limit);
  Value tooLow = compare(l, arith::CmpFPredicate::OLT, x, least);
  // NaN and what is out of range convert as 0, then the extremes replace it.
  Value inside = arith::AndIOp::create(l.b, l.e.loc, compare(l, arith::CmpFPredicate::OGE, x, least),
                                       compare(l, arith::CmpFPredicate::OLT, x, limit));
  Value safe = select(l, inside, x, l.e.floatConstant(x.getType(), 0.0));
  Value number = isSigned || work > bits ? Value(arith::FPToSIOp::create(l.b, l.e.loc, workType, safe))
                                         : Value(arith::FPToUIOp::create(l.b, l.e.loc, workType, safe));
  if (work > bits)
    number = arith::TruncIOp::create(l.b, l.e.loc, type, number);
  auto extreme = [&](bool high) {
    llvm::APInt value = isSigned ? (high ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getSignedMinValue(bits))
                                 : (high ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getZero(bits));
    return l.e.intConstant(type, value);
  };
  number = select(l, tooHigh, extreme(true), number);
  return select(l, tooLow, extreme(false), number);
}

void tilejit::cpu::registerLazyConversions(OpTables &tables) {
  tables.lazy[tile::FpToFpOp::getOperationName()] = {sameSegment, combineFpToFp};
  tables.lazy[tile::FpToIntOp::getOperationName()] = {sameSegment, combineFpToInt};
}
