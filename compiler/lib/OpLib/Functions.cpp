// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Composed functions.

#include "Functions.h"

#include "tilejit/Dialect/Tile/IR/Hints.h"

#include "mlir/IR/Matchers.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace tilejit::oplib {

/// A distance from 0 beyond which exp(-d) counts as 0. It is so small that exp(-d / 2) is a number still.
static double farDistance(Value x) { return getElementTypeOrSelf(x.getType()).isF64() ? 1490 : 200; }

/// A product and a sum of it may be rounded once, where the target does that.
static constexpr auto mayFuse = arith::FastMathFlags::contract;

/// The class of accuracy that a description asks for; its families that can't ask have the full one.
static Accuracy accuracyOf(const Description &description) {
  if (const auto *elementwise = std::get_if<ElementwiseAttributes>(&description.attributes))
    return elementwise->accuracy;
  if (const auto *softmax = std::get_if<SoftmaxAttributes>(&description.attributes))
    return softmax->accuracy;
  return Accuracy::Full;
}

arith::FastMathFlags functionFlags(const KernelBuilder &b) {
  return accuracyOf(b.description()) == Accuracy::Fast ? arith::FastMathFlags::afn : arith::FastMathFlags::none;
}

/// Whether a function of x may be off by 2^-15 of its value, or be 0 below 2^-120.
static bool isFast(const KernelBuilder &b, Value x) {
  return accuracyOf(b.description()) == Accuracy::Fast && !getElementTypeOrSelf(x.getType()).isF64();
}

static Value exponential(KernelBuilder &b, Value x) { return math::ExpOp::create(b, x, functionFlags(b)); }
/// The same of a number that was multiplied by log2(e) where a factor was at hand.
static Value powerOfTwo(KernelBuilder &b, Value x) { return math::Exp2Op::create(b, x, functionFlags(b)); }

namespace {
/// exp(-|u|) as the square of exp(-|u| / 2): a factor can be multiplied by each half without losing digits where the
/// exponential itself is subnormal.
struct Logistic {
  Value half, square, denominator;

  Logistic(KernelBuilder &b, Value distance) {
    half = exponential(b, arith::MulFOp::create(b, distance, splatLike(b, distance, -0.5)));
    square = arith::MulFOp::create(b, half, half, mayFuse);
    denominator = arith::AddFOp::create(b, square, splatLike(b, distance, 1), mayFuse);
  }
};
} // namespace

/// x / (1 + exp(-u)), where the exponential may become infinite.
static Value fastLogistic(KernelBuilder &b, Value x, Value u) {
  Value opposite = exponential(b, arith::NegFOp::create(b, u));
  return arith::DivFOp::create(b, x, arith::AddFOp::create(b, opposite, splatLike(b, u, 1)));
}

Value sigmoid(KernelBuilder &b, Value x) {
  if (isFast(b, x))
    return fastLogistic(b, splatLike(b, x, 1), x);
  Logistic logistic(b, math::AbsFOp::create(b, x));
  Value isNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, splatLike(b, x, 0));
  Value numerator = arith::SelectOp::create(b, isNegative, logistic.square, splatLike(b, x, 1));
  return arith::DivFOp::create(b, numerator, logistic.denominator);
}

/// A gelu or silu is the larger of x and 0, less |x| times the share beyond |x|. The share counts for negative x only
/// as far as its product with x, which is small where the share is.
static Value rampLess(KernelBuilder &b, Value x, Value lost) {
  // A zero of either sign will do, and one instruction has the larger of two then.
  Value ramp = arith::MaximumFOp::create(b, x, splatLike(b, x, 0), arith::FastMathFlags::nsz);
  return arith::SubFOp::create(b, ramp, lost, mayFuse);
}

/// What is lost is |x| exp(-|x|) / (1 + exp(-|x|)) on either side; beyond the bound it is 0.
Value silu(KernelBuilder &b, Value x) {
  if (isFast(b, x)) {
    Value bounded = arith::MaximumFOp::create(b, x, splatLike(b, x, -farDistance(x)));
    return fastLogistic(b, bounded, bounded);
  }
  Value distance = arith::MinimumFOp::create(b, math::AbsFOp::create(b, x), splatLike(b, x, farDistance(x)));
  Logistic logistic(b, distance);
  Value lost = arith::MulFOp::create(b, arith::MulFOp::create(b, distance, logistic.half), logistic.half);
  return rampLess(b, x, arith::DivFOp::create(b, lost, logistic.denominator));
}

/// x / 2 * erfc(-x / sqrt(2)): no cancellation for negative x. The bound keeps -inf * 0 away.
static Value geluByErfc(KernelBuilder &b, Value x) {
  Value bounded = arith::MaximumFOp::create(b, x, splatLike(b, x, -farDistance(x)));
  Value argument = arith::MulFOp::create(b, bounded, splatLike(b, x, -1 / std::numbers::sqrt2));
  Value tail = math::ErfcOp::create(b, argument);
  Value half = arith::MulFOp::create(b, bounded, splatLike(b, x, 0.5));
  return arith::MulFOp::create(b, half, tail);
}

/// min(|x|, 30): beyond, what the gelus lose is 0.
static Value boundedDistance(KernelBuilder &b, Value x) {
  return arith::MinimumFOp::create(b, math::AbsFOp::create(b, x), splatLike(b, x, 30));
}

/// What a gelu loses; back ends that have `hint` in a table of theirs take it from there.
static Value geluLoss(KernelBuilder &b, Value distance, Value tail, StringRef hint) {
  auto loss = arith::MulFOp::create(b, distance, tail, mayFuse);
  loss->setAttr(hint, b.getUnitAttr());
  return loss;
}

namespace {
/// A polynomial in t = 1 / (1 + rate d), coefficients from that of t on.
struct TailSeries {
  double rate;
  ArrayRef<double> coefficients;
};
} // namespace

static TailSeries tailSeries(bool isFast) {
  // Minimax for the larger of the error and the error times 2 d (1e-8).
  static constexpr double full[] = {0x1.620336p-3,  0x1.a3ea82p-3, 0x1.519d56p-8, 0x1.a354aap-2,
                                    -0x1.d51c7ep-2, 0x1.95b4b4p-3, -0x1.0a7eb6p-5};
  // Minimax for the relative error (2^-16.8) up to 5.7, where what a gelu loses is 3e-8.
  static constexpr double fast[] = {0x1.226d1ap-3, 0x1.4df806p-3, 0x1.68a03cp-5, 0x1.fb3e60p-3, -0x1.8b9ba0p-4};
  return isFast ? TailSeries{0x1.70a3d8p-2, fast} : TailSeries{0x1.c28f5cp-2, full};
}

/// erfc(d / sqrt(2)) / 2 for f32: exp(-d^2 / 2) times such a polynomial.
static Value normalTail(KernelBuilder &b, Value distance) {
  auto [rate, coefficients] = tailSeries(isFast(b, distance));
  auto constant = [&](double value) { return splatLike(b, distance, value); };
  Value exponent =
      arith::MulFOp::create(b, arith::MulFOp::create(b, distance, constant(-0.5 * std::numbers::log2e)), distance);
  Value t = arith::DivFOp::create(b, constant(1), math::FmaOp::create(b, distance, constant(rate), constant(1)));
  Value sum = constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = math::FmaOp::create(b, sum, t, constant(coefficient));
  return arith::MulFOp::create(b, powerOfTwo(b, exponent), arith::MulFOp::create(b, sum, t));
}

Value gelu(KernelBuilder &b, Value x) {
  if (getElementTypeOrSelf(x.getType()).isF64())
    return geluByErfc(b, x);
  Value distance = boundedDistance(b, x);
  return rampLess(b, x, geluLoss(b, distance, normalTail(b, distance), tile::geluLossAttrName));
}

/// (1 + tanh(u)) / 2 is sigmoid(2 u).
Value geluTanh(KernelBuilder &b, Value x) {
  const double scale = -2 * std::sqrt(2 / std::numbers::pi) * std::numbers::log2e;
  Value distance = boundedDistance(b, x), square = arith::MulFOp::create(b, distance, distance);
  Value inner = math::FmaOp::create(b, square, splatLike(b, x, scale * 0.044715), splatLike(b, x, scale));
  Value tail = powerOfTwo(b, arith::MulFOp::create(b, distance, inner));
  Value whole = arith::AddFOp::create(b, tail, splatLike(b, x, 1));
  Value share = arith::DivFOp::create(b, tail, whole);
  return rampLess(b, x, geluLoss(b, distance, share, tile::geluTanhLossAttrName));
}

Value softplus(KernelBuilder &b, Value x) {
  Value distance = math::AbsFOp::create(b, x);
  Value small = exponential(b, arith::NegFOp::create(b, distance));
  Value positive = arith::MaximumFOp::create(b, x, splatLike(b, x, 0));
  return arith::AddFOp::create(b, positive, math::Log1pOp::create(b, small, functionFlags(b)));
}

Value minimum(KernelBuilder &b, Value x, Value y, DType dtype) {
  if (isFloat(dtype))
    return arith::MinimumFOp::create(b, x, y);
  if (isUnsigned(dtype))
    return arith::MinUIOp::create(b, x, y);
  return arith::MinSIOp::create(b, x, y);
}

Value maximum(KernelBuilder &b, Value x, Value y, DType dtype) {
  if (isFloat(dtype))
    return arith::MaximumFOp::create(b, x, y);
  if (isUnsigned(dtype))
    return arith::MaxUIOp::create(b, x, y);
  return arith::MaxSIOp::create(b, x, y);
}

Value relu(KernelBuilder &b, Value x, DType dtype) {
  if (isUnsigned(dtype))
    return x;
  Value zero = isFloat(dtype) ? splatLike(b, x, 0) : splatIntLike(b, x, 0);
  return maximum(b, x, zero, dtype);
}

Value sign(KernelBuilder &b, Value x, DType dtype) {
  if (isFloat(dtype)) {
    Value zero = splatLike(b, x, 0);
    Value isPositive = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, zero);
    Value isNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, zero);
    Value rest = arith::SelectOp::create(b, isNegative, splatLike(b, x, -1), x);
    return arith::SelectOp::create(b, isPositive, splatLike(b, x, 1), rest);
  }
  if (dtype == DType::Bool)
    return x;
  Value one = splatIntLike(b, x, 1);
  if (isUnsigned(dtype))
    return arith::MinUIOp::create(b, x, one);
  return arith::MaxSIOp::create(b, arith::MinSIOp::create(b, x, one), splatIntLike(b, x, -1));
}

Value isNan(KernelBuilder &b, Value x) { return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x); }

Value isInf(KernelBuilder &b, Value x) {
  Value infinity = splatLike(b, x, std::numeric_limits<double>::infinity());
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, x), infinity);
}

//===--- modulo -------------------------------------------------------------------------------------------------===//

/// The truncating remainder, which is exact, moved by y where the signs differ.
static Value floatModulo(KernelBuilder &b, Value x, Value y) {
  Value zero = splatLike(b, x, 0), rest = arith::RemFOp::create(b, x, y);
  Value isNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, rest, zero);
  Value isPositive = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, rest, zero);
  Value wantsNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, y, zero);
  Value differs = arith::SelectOp::create(b, wantsNegative, isPositive, isNegative);
  return arith::SelectOp::create(b, differs, arith::AddFOp::create(b, rest, y), rest);
}

/// Division by 0 and by -1 is division by 1 instead, as both may trap; the remainder of the latter is 0 either way.
static Value integerModulo(KernelBuilder &b, Value x, Value y, DType dtype) {
  Value zero = splatIntLike(b, x, 0), one = splatIntLike(b, x, 1);
  Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, y, zero);
  if (isUnsigned(dtype))
    return arith::SelectOp::create(b, isZero, zero,
                                   arith::RemUIOp::create(b, x, arith::SelectOp::create(b, isZero, one, y)));
  Value isMinusOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, y, splatIntLike(b, x, -1));
  Value divisor = arith::SelectOp::create(b, arith::OrIOp::create(b, isZero, isMinusOne), one, y);
  Value rest = arith::RemSIOp::create(b, x, divisor);
  Value differs = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, arith::XOrIOp::create(b, rest, divisor), zero);
  Value isRest = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, zero);
  Value correction = arith::SelectOp::create(b, arith::AndIOp::create(b, differs, isRest), divisor, zero);
  return arith::AddIOp::create(b, rest, correction);
}

Value modulo(KernelBuilder &b, Value x, Value y, DType dtype) {
  return isFloat(dtype) ? floatModulo(b, x, y) : integerModulo(b, x, y, dtype);
}

//===--- power --------------------------------------------------------------------------------------------------===//

/// The number that all elements of a constant are.
static std::optional<double> constantOf(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

/// Small whole exponents by products (at most 3 roundings), others by math.powf.
Value power(KernelBuilder &b, Value x, Value y) {
  std::optional<double> exponent = constantOf(y);
  auto square = [&](Value v) -> Value { return arith::MulFOp::create(b, v, v); };
  if (exponent == 0)
    return splatLike(b, x, 1);
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return square(x);
  if (exponent == 3)
    return arith::MulFOp::create(b, square(x), x);
  if (exponent == 4)
    return square(square(x));
  if (exponent == -1)
    return arith::DivFOp::create(b, splatLike(b, x, 1), x);
  return math::PowFOp::create(b, x, y, functionFlags(b));
}

} // namespace tilejit::oplib
