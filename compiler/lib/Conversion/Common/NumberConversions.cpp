// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tile dialect's conversions: saturation and out-of-range integers are spelled out here with comparisons, so that
// what remains is a plain rounding of arith.

#include "NumberConversions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilejit;

static Value constant(OpBuilder &b, Location loc, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, element);
  return arith::ConstantOp::create(b, loc, element);
}

static Value floatConstant(OpBuilder &b, Location loc, Type type, const APFloat &value) {
  return constant(b, loc, type, FloatAttr::get(getElementTypeOrSelf(type), value));
}

static Value floatConstant(OpBuilder &b, Location loc, Type type, double value) {
  return constant(b, loc, type, FloatAttr::get(getElementTypeOrSelf(type), value));
}

static Value intConstant(OpBuilder &b, Location loc, Type type, const APInt &value) {
  return constant(b, loc, type, IntegerAttr::get(getElementTypeOrSelf(type), value));
}

static Type like(Type shape, Type element) {
  if (auto vector = dyn_cast<VectorType>(shape))
    return VectorType::get(vector.getShape(), element);
  return element;
}

static Value select(OpBuilder &b, Location loc, Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

static Value compare(OpBuilder &b, Location loc, arith::CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, loc, predicate, x, y);
}

/// f8E8M0FNU, which has neither zero nor sign. Where arith folds conversions of constants, zero becomes its least
/// number and its NaN infinity, so what has no number is said beside them.
static bool isScale(FloatType type) { return !APFloat::semanticsHasZero(type.getFloatSemantics()); }

/// Widens to f32 what is narrower: exact for all types but f8E8M0, whose values f32 holds too.
static Value widen(OpBuilder &b, Location loc, Value x) {
  auto type = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  if (type.getWidth() >= 32)
    return x;
  Value wide = arith::ExtFOp::create(b, loc, like(x.getType(), b.getF32Type()), x);
  if (!isScale(type))
    return wide;
  Value code = arith::BitcastOp::create(b, loc, like(x.getType(), b.getI8Type()), x);
  Value notNumber = intConstant(b, loc, code.getType(), APInt::getAllOnes(8));
  Value isNan = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, code, notNumber);
  return select(b, loc, isNan, floatConstant(b, loc, wide.getType(), APFloat::getNaN(APFloat::IEEEsingle())), wide);
}

/// Rounds to fewer bits.
static Value narrow(OpBuilder &b, Location loc, Value x, FloatType to, tile::Rounding rounding) {
  Type type = like(x.getType(), to);
  // Without a mode it is to nearest even, in an instruction that every back end knows for every length of vectors.
  arith::RoundingModeAttr mode;
  if (rounding == tile::Rounding::TowardZero)
    mode = arith::RoundingModeAttr::get(b.getContext(), arith::RoundingMode::toward_zero);
  Value rounded = mode ? arith::TruncFOp::create(b, loc, type, x, mode, arith::FastMathFlagsAttr())
                       : arith::TruncFOp::create(b, loc, type, x);
  if (!isScale(to))
    return rounded;
  Value isNumber = compare(b, loc, arith::CmpFPredicate::OGT, x, floatConstant(b, loc, x.getType(), 0.0));
  return select(b, loc, isNumber, rounded, floatConstant(b, loc, type, APFloat::getNaN(to.getFloatSemantics())));
}

Value tilejit::convertFloat(OpBuilder &b, Location loc, tile::FpToFpOp convert, Value x) {
  auto to = cast<FloatType>(getElementTypeOrSelf(convert.getType()));
  auto from = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  if (to == from)
    return x;
  if (convert.getSaturate()) {
    x = widen(b, loc, x);
    const llvm::fltSemantics &wide = cast<FloatType>(getElementTypeOrSelf(x.getType())).getFloatSemantics();
    auto bound = [&](bool negative) {
      bool loses = false;
      llvm::APFloat value = llvm::APFloat::getLargest(to.getFloatSemantics(), negative);
      value.convert(wide, llvm::APFloat::rmTowardZero, &loses);
      return floatConstant(b, loc, x.getType(), value);
    };
    Value high = bound(false), low = bound(true);
    x = select(b, loc, compare(b, loc, arith::CmpFPredicate::OGT, x, high), high, x);
    x = select(b, loc, compare(b, loc, arith::CmpFPredicate::OLT, x, low), low, x);
  }
  // Between narrow types of which neither holds the other: through f32, which holds both.
  from = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  if (isScale(from) || (from.getWidth() < 32 && to.getWidth() < 32))
    x = widen(b, loc, x);
  from = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  if (from == to)
    return x;
  if (from.getWidth() < to.getWidth())
    return arith::ExtFOp::create(b, loc, like(x.getType(), to), x);
  return narrow(b, loc, x, to, convert.getRounding());
}

Value tilejit::convertToInteger(OpBuilder &b, Location loc, tile::FpToIntOp convert, Value x) {
  x = widen(b, loc, x);
  Type integer = getElementTypeOrSelf(convert.getType());
  auto to = integer.isIndex() ? b.getI64Type() : cast<IntegerType>(integer);
  bool isSigned = convert.getSignedness() == tile::Signedness::Signed;
  unsigned bits = to.getWidth();
  // Small results go through i32, where the CPU has the conversion.
  unsigned work = bits < 32 ? 32 : bits;
  Type workType = like(x.getType(), b.getIntegerType(work)), type = like(x.getType(), to);
  auto power = [&](unsigned exponent, bool negative) {
    llvm::APFloat value = scalbn(llvm::APFloat(1.0), exponent, llvm::APFloat::rmNearestTiesToEven);
    if (negative)
      value.changeSign();
    bool loses = false;
    value.convert(cast<FloatType>(getElementTypeOrSelf(x.getType())).getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &loses);
    return floatConstant(b, loc, x.getType(), value);
  };
  Value limit = power(isSigned ? bits - 1 : bits, false);
  Value least = isSigned ? power(bits - 1, true) : floatConstant(b, loc, x.getType(), 0.0);
  Value tooHigh = compare(b, loc, arith::CmpFPredicate::OGE, x, limit);
  Value tooLow = compare(b, loc, arith::CmpFPredicate::OLT, x, least);
  // NaN and what is out of range convert as 0, then the extremes replace it.
  Value inside = arith::AndIOp::create(b, loc, compare(b, loc, arith::CmpFPredicate::OGE, x, least),
                                       compare(b, loc, arith::CmpFPredicate::OLT, x, limit));
  Value safe = select(b, loc, inside, x, floatConstant(b, loc, x.getType(), 0.0));
  Value number = isSigned || work > bits ? Value(arith::FPToSIOp::create(b, loc, workType, safe))
                                         : Value(arith::FPToUIOp::create(b, loc, workType, safe));
  if (work > bits)
    number = arith::TruncIOp::create(b, loc, type, number);
  auto extreme = [&](bool high) {
    llvm::APInt value = isSigned ? (high ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getSignedMinValue(bits))
                                 : (high ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getZero(bits));
    return intConstant(b, loc, type, value);
  };
  number = select(b, loc, tooHigh, extreme(true), number);
  return select(b, loc, tooLow, extreme(false), number);
}
