// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// exp, exp2, expm1, tanh. All reduce to 2^n * g(r) with r in half an octave around 0 and build 2^n from integers, in
// two factors, so that results in the subnormal range are rounded once and overflow gives infinity. Arguments are
// clamped to where the result has long been 0 or infinity; NaN passes the clamps. With AVX-512 exp and exp2 mask the 0
// instead, where the argument is not seen to be closer, and take sixteenths of an octave from a table. The fast forms
// of f32 have one term less and ln 2 in one part.

#include "Functions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <array>
#include <cmath>

using namespace mlir;

namespace tilejit::math {

namespace {

// Minimax coefficients on |r| <= ln2 / 2.
// (e^r - 1 - r) / r^2:
constexpr double expTail32[] = {0x1.fffffcp-2, 0x1.555490p-3, 0x1.5558fcp-5, 0x1.123b9ap-7, 0x1.6a218ep-10};
constexpr double expM1Tail32[] = {0x1.fffffep-2, 0x1.5554aep-3, 0x1.55567ep-5, 0x1.12291ap-7, 0x1.6be6e4p-10};
constexpr double expTail64[] = {0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.555555555553ep-5,
                                0x1.111111110f63dp-7,  0x1.6c16c16c1f387p-10, 0x1.a01a01b01a769p-13,
                                0x1.a01a017b256eap-16, 0x1.71ddf7ba40c06p-19, 0x1.27e536d8ec23cp-22,
                                0x1.af5fe9496984ep-26, 0x1.1ee8826e45831p-29};
constexpr double fastExpTail32[] = {0x1.0006bcp-1, 0x1.571d92p-3, 0x1.52241ep-5}; // To 2^-17.5 of e^r.
// (e^r - 1) / r on |r| <= ln2 / 32:
constexpr double expByTableTail32[] = {1.0, 0x1.00022p-1, 0x1.55571ap-3};
constexpr double fastExpByTableTail32[] = {0x1.0003d8p+0, 0x1.fffff6p-2}; // To 2^-21 of e^r.
// (2^r - 1) / r on |r| <= 1 / 2:
constexpr double exp2Tail32[] = {0x1.62e430p-1, 0x1.ebfbdcp-3,  0x1.c6aee4p-5,
                                 0x1.3b2d54p-7, 0x1.5f40ecp-10, 0x1.41fa1cp-13};
constexpr double exp2Tail64[] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c5a5p-3,  0x1.c6b08d7049fe1p-5,
                                 0x1.3b2ab6fb9ff3dp-7,  0x1.5d87fe78ce5bdp-10, 0x1.4309130f403abp-13,
                                 0x1.ffcbfba65fe4dp-17, 0x1.62bfc6872c784p-20, 0x1.b52680a853156p-24,
                                 0x1.e61d4c254aaf5p-28, 0x1.e799f8461a804p-32};

constexpr double fastExp2Tail32[] = {0x1.62e12cp-1, 0x1.ec0378p-3, 0x1.c9fc46p-5, 0x1.3a02ccp-7}; // To 2^-18 of 2^r.

// (2^r - 1) / r on |r| <= 1 / 32, from those of e^r:
constexpr double exp2ByTableTail32[] = {0x1.62e430p-1, 0x1.ebfff6p-3, 0x1.c6b2e8p-5};
constexpr double fastExp2ByTableTail32[] = {0x1.62e984p-1, 0x1.ebfbd6p-3};

constexpr double log2e = 0x1.71547652b82fep+0, ln2 = 0x1.62e42fefa39efp-1;
// ln 2 in two parts; the first has so few bits that its product with any n here is exact.
constexpr double ln2High32 = 0x1.62ep-1, ln2Low32 = 0x1.0bfbe8p-15;
constexpr double ln2High64 = 0x1.62e42feep-1, ln2Low64 = 0x1.a39ef35793c76p-33;

/// n as an integer and as a float, r = x - n * ln 2.
struct Reduced {
  Num n, floatN, r;
};

/// n = x * factor rounded, by way of the low bits of a sum with a large number; r is left open.
Reduced nearest(Num x, double factor) {
  double magic = x.isDouble() ? 0x1.8p52 : 0x1.8p23;
  Num shifted = fma(x, factor, x.like(magic));
  return {bitsOf(shifted) - bitsOf(x.like(magic)), shifted - magic, Num()};
}

Reduced reduceByLn2(Num x) {
  Reduced split = nearest(x, log2e);
  bool wide = x.isDouble();
  Num r = fma(split.floatN, wide ? -ln2High64 : -ln2High32, x);
  split.r = fma(split.floatN, wide ? -ln2Low64 : -ln2Low32, r);
  return split;
}

/// e^r - 1.
Num expM1Small(Num r) {
  return fma(r * r, polynomial(r, r.isDouble() ? std::span<const double>(expTail64) : expM1Tail32), r);
}

/// Powers of two, sixteenths of an octave apart.
std::span<const float, 16> sixteenths() {
  static const std::array<float, 16> powers = [] {
    std::array<float, 16> table;
    for (int i = 0; i < 16; ++i)
      table[i] = static_cast<float>(std::exp2(i / 16.0));
    return table;
  }();
  return powers;
}

constexpr double sixteenthsMagic = 0x1.8p19; // Its last place is 1/16.

/// e^x for registers of f32, right where |x| < 2^17: x = n ln 2 + r with n a multiple of 1/16, whose fraction picks a
/// power of two from a table. What takes time there is the number of steps, and r is so small that few are left.
/// Half a unit for the table's entry, half a one for the result, a fortieth of truncation.
Num expByTable(Num x, bool inOnePart, std::span<const double> tail) {
  Num shifted = fma(x, log2e, x.like(sixteenthsMagic)), n = shifted - sixteenthsMagic;
  Num r = inOnePart ? fma(n, -ln2, x) : fma(n, -ln2Low32, fma(n, -ln2High32, x));
  Num power = lookUp(sixteenths(), bitsOf(shifted));
  return scale(fma(power, polynomial(r, tail) * r, power), Num(), n);
}

/// 2^x in the same way. The parts of x are differences, which are exact and leave the multipliers to the rest.
Num exp2ByTable(Num x, llvm::function_ref<Num(Num)> restOf, std::span<const double> tail) {
  Num shifted = x + sixteenthsMagic, n = shifted - sixteenthsMagic, r = restOf(n);
  Num power = lookUp(sixteenths(), bitsOf(shifted));
  return scale(fma(power, polynomial(r, tail) * r, power), Num(), n);
}

/// e^x - 1 where 2^n of its reduction is a normal number below 2^(precision).
Num expM1Bounded(Num x) {
  Reduced reduced = reduceByLn2(x);
  Num power = powerOfTwo(reduced.n);
  return fma(power, expM1Small(reduced.r), power - 1.0);
}

} // namespace

namespace {
/// What a number lies between unless it is NaN, for results that are rounded to f32 or f64.
struct Range {
  double low = -HUGE_VAL, high = HUGE_VAL;
};

Range rounded(double low, double high) { return {low - std::fabs(low) * 0x1p-20, high + std::fabs(high) * 0x1p-20}; }

Range magnitude(Range a) { return {a.low > 0 ? a.low : a.high < 0 ? -a.high : 0, std::max(-a.low, a.high)}; }

Range product(Range a, Range b) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (double x : {a.low, a.high})
    for (double y : {b.low, b.high}) {
      double corner = x == 0 || y == 0 ? 0 : x * y; // Not NaN for infinity times 0.
      low = std::min(low, corner);
      high = std::max(high, corner);
    }
  return rounded(low, high);
}

/// As far as a glance tells.
Range rangeOf(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 8)
    return {};
  auto operand = [&](unsigned index) { return rangeOf(op->getOperand(index), depth + 1); };
  auto factors = [&] {
    if (op->getOperand(0) != op->getOperand(1))
      return product(operand(0), operand(1));
    Range factor = magnitude(operand(0));
    return product(factor, factor);
  };
  llvm::APFloat constant(0.0);
  if (matchPattern(value, m_ConstantFloat(&constant))) {
    double number = constant.convertToDouble();
    return std::isnan(number) ? Range() : Range{number, number};
  }
  if (isa<mlir::math::AbsFOp>(op))
    return magnitude(operand(0));
  if (isa<arith::NegFOp>(op)) {
    Range range = operand(0);
    return {-range.high, -range.low};
  }
  if (isa<arith::MulFOp>(op))
    return factors();
  if (isa<mlir::math::FmaOp>(op)) {
    Range left = factors(), right = operand(2);
    bool hasLow = std::isfinite(left.low) && std::isfinite(right.low);
    bool hasHigh = std::isfinite(left.high) && std::isfinite(right.high);
    return rounded(hasLow ? left.low + right.low : -HUGE_VAL, hasHigh ? left.high + right.high : HUGE_VAL);
  }
  if (isa<arith::MinimumFOp>(op)) {
    Range left = operand(0), right = operand(1);
    return {std::min(left.low, right.low), std::min(left.high, right.high)};
  }
  if (isa<arith::MaximumFOp>(op)) {
    Range left = operand(0), right = operand(1);
    return {std::max(left.low, right.low), std::max(left.high, right.high)};
  }
  return {};
}
} // namespace

/// e^x by series.
static Num expBySeries(Num x, bool isFast) {
  Reduced reduced = isFast ? nearest(x, log2e) : reduceByLn2(x);
  if (isFast)
    reduced.r = fma(reduced.floatN, -ln2, x);
  std::span<const double> tail = x.isDouble() ? std::span<const double>(expTail64) : expTail32;
  if (isFast)
    tail = fastExpTail32;
  Num r = reduced.r, square = r * r;
  return scale(fma(square, polynomialInPairs(r, square, tail), r) + 1.0, reduced.n, reduced.floatN);
}

/// A function of registers that is 0 below `low`, infinite above `high`, and without bounds right up to farAway.
static Num withinBounds(Num x, Range range, double low, double high, llvm::function_ref<Num(Num)> function) {
  constexpr double farAway = 0x1p16;
  Num result = function(range.high <= farAway ? x : atMost(x, high));
  return range.low >= -farAway ? result : select(x < low, 0.0, result);
}

/// The nearest value in [low, high], which x lies in already as far as its range tells; NaN stays.
static Num clampFrom(Range range, Num x, double low, double high) {
  Num raised = range.low < low ? atLeast(x, low) : x;
  return range.high > high ? atMost(raised, high) : raised;
}

static Num boundedExp(Num x, Range range, bool isFast) {
  double low = x.isDouble() ? -746.0 : -104.0, high = x.isDouble() ? 710.0 : 89.0;
  if (!scalesByInstruction(x))
    return expBySeries(clampFrom(range, x, low, high), isFast);
  std::span<const double> tail = isFast ? std::span<const double>(fastExpByTableTail32) : expByTableTail32;
  return withinBounds(x, range, low, high,
                      [&](Num y) { return x.isDouble() ? expBySeries(y, isFast) : expByTable(y, isFast, tail); });
}

Num expandExp(Num x) { return boundedExp(x, rangeOf(x.value()), /*isFast=*/false); }
Num expandFastExp(Num x) { return boundedExp(x, rangeOf(x.value()), /*isFast=*/true); }

Num expandExpOfDistance(Num x) {
  constexpr Range distances = {-HUGE_VAL, 0};
  if (x.isDouble() || !scalesByInstruction(x))
    return boundedExp(x, distances, /*isFast=*/false);
  // What ln 2 in one part is off by is a twentieth of the argument's rounding.
  return withinBounds(x, distances, -104.0, 0.0,
                      [](Num y) { return expByTable(y, /*inOnePart=*/true, expByTableTail32); });
}

static Num boundedExp2(Num x, std::span<const double> series, std::span<const double> byTable) {
  if (!x.isDouble() && scalesByInstruction(x))
    return withinBounds(x, rangeOf(x.value()), -151.0, 129.0,
                        [&](Num y) { return exp2ByTable(y, [&](Num n) { return y - n; }, byTable); });
  double low = x.isDouble() ? -1076.0 : -151.0, high = x.isDouble() ? 1025.0 : 129.0;
  Num bounded = clampFrom(rangeOf(x.value()), x, low, high);
  Reduced split = nearest(bounded, 1.0);
  Num r = bounded - split.floatN;
  return scale(fma(r, polynomial(r, series), 1.0), split.n, split.floatN);
}

Num expandExp2(Num x) {
  return boundedExp2(x, x.isDouble() ? std::span<const double>(exp2Tail64) : exp2Tail32, exp2ByTableTail32);
}
Num fastExp2OfSum(Num x, llvm::function_ref<Num(Num)> restOf) { return exp2ByTable(x, restOf, fastExp2ByTableTail32); }
Num expandFastExp2(Num x) { return boundedExp2(x, fastExp2Tail32, fastExp2ByTableTail32); }

Num expandExpM1(Num x) {
  Num bounded = x.isDouble() ? clamp(x, -60.0, 710.0) : clamp(x, -30.0, 89.0);
  Reduced reduced = reduceByLn2(bounded);
  // Half of the result first: 2^n alone may be beyond the range where the result is not.
  Num half = powerOfTwo(addInt(reduced.n, -1));
  Num result = fma(half, expM1Small(reduced.r), half - 0.5) * 2.0;
  return select(isEqual(x, 0.0), x, result); // Keeps the sign of zero.
}

Num expandTanh(Num x) {
  // tanh a = (e^2a - 1) / (e^2a + 1); 1 to the last bit beyond the bound.
  Num doubled = clamp(abs(x), 0.0, x.isDouble() ? 20.0 : 10.0) * 2.0;
  Num t = expM1Bounded(doubled);
  return copySign(t / (t + 2.0), x);
}

} // namespace tilejit::math
