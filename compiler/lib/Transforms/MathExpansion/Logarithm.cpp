// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// log, log2, log10, log1p. x = 2^k * (1 + f) with 1 + f around 1, so that results near 0 keep their relative accuracy:
// there k is 0 and the series in f is all there is. With AVX-512 f32 goes by LogTable.h instead: its instructions that
// take a number apart know what to do with subnormal numbers and where there is no logarithm, and a quotient from a
// table leaves so little of the significand that the series is short. The fast forms are the same with a shorter one.

#include "Functions.h"
#include "LogTable.h"

#include <limits>
#include <vector>

namespace tilejit::math {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A base: 1 / ln(base) and log_base(2), each in two parts, the first of the second so short that its product with an
/// exponent is exact; and for f32 minimax coefficients of (log_base(1 + f) - f / ln(base)) / f^2 on |f| <= 1/3.
struct Base {
  double scaleHigh32, scaleLow32, twoHigh32, twoLow32;
  double scaleHigh64, scaleLow64, twoHigh64, twoLow64;
  double tail32[9];
};

constexpr Base natural = {1.0,
                          0.0,
                          0x1.62e4p-1,
                          0x1.7f7d1cp-20,
                          1.0,
                          0.0,
                          0x1.62e42feep-1,
                          0x1.a39ef35793c76p-33,
                          {-0x1.000000p-1, 0x1.555502p-2, -0x1.fffe84p-3, 0x1.99d1fcp-3, -0x1.55a760p-3, 0x1.1ebdb0p-3,
                           -0x1.f25c6ap-4, 0x1.1ed514p-3, -0x1.09355ep-3}};
constexpr Base binary = {0x1.715476p+0,
                         0x1.4ae0cp-26,
                         1.0,
                         0.0,
                         0x1.71547652b82fep+0,
                         0x1.777d0ffda0d24p-56,
                         1.0,
                         0.0,
                         {-0x1.715476p-1, 0x1.ec7024p-2, -0x1.715364p-2, 0x1.279f72p-2, -0x1.ece6fap-3, 0x1.9dae06p-3,
                          -0x1.677dd0p-3, 0x1.9dcfc6p-3, -0x1.7e9d6ep-3}};
constexpr Base decimal = {0x1.bcb7b2p-2,
                          -0x1.5b235ep-27,
                          0x1.344p-2,
                          0x1.3509f8p-18,
                          0x1.bcb7b1526e50ep-2,
                          0x1.95355baaafad3p-57,
                          0x1.344135098p-2,
                          0x1.de7fbcc47c4adp-36,
                          {-0x1.bcb7b2p-3, 0x1.287a2ep-3, -0x1.bcb668p-4, 0x1.63f722p-4, -0x1.28c1b8p-4, 0x1.f21ebep-5,
                           -0x1.b0def0p-5, 0x1.f24762p-5, -0x1.ccb6dcp-5}};

/// (2 atanh(s) / s - 2) / s^2 in s^2, for |s| <= 3 - 2 sqrt(2).
constexpr double atanhTail64[] = {0x1.5555555555594p-1, 0x1.999999997f704p-2, 0x1.249249425751cp-2,
                                  0x1.c71c51b0ba3a2p-3, 0x1.7466522f18a26p-3, 0x1.399fae7ae666ep-3,
                                  0x1.2f1b0925f7abep-3};

/// x = 2^k * (1 + f).
struct Split {
  Num k; ///< An integer.
  Num f; ///< In [-1/3, 1/3] for f32, from sqrt(1/2) - 1 to sqrt(2) - 1 for f64.
};

Split splitNormal(Num x) {
  bool wide = x.isDouble();
  Num bits = bitsOf(x);
  Num k = shiftRight(addInt(bits, wide ? -0x3fe6a09e00000000 : -0x3f2aaaab), wide ? 52 : 23);
  return {k, floatOf(bits - (k << (wide ? 52 : 23))) - 1.0};
}

/// The logarithm of 2^k * (1 + f), k as a float.
Num logarithm(Num k, Num f, const Base &base) {
  if (!f.isDouble()) {
    Num low = fma(f * f, polynomial(f, base.tail32), k * base.twoLow32);
    Num high = base.scaleLow32 == 0 ? f + low : fma(f, base.scaleHigh32, fma(f, base.scaleLow32, low));
    return fma(k, base.twoHigh32, high);
  }
  // log(1 + f) = f - f^2/2 + s * (f^2/2 + R), s = f / (2 + f).
  Num s = f / (f + 2.0), z = s * s;
  Num tail = z * polynomial(z, atanhTail64), half = f * f * 0.5;
  Num rest = s * (half + tail);
  if (base.scaleHigh64 == 1.0)
    return k * base.twoHigh64 - ((half - fma(k, base.twoLow64, rest)) - f);
  Pair main = exactSumOrdered(f, -half);
  Num low = main.lo + rest;
  Pair scaled = exactProduct(main.hi, f.like(base.scaleHigh64));
  Num scaledLow = scaled.lo + fma(low, base.scaleHigh64, main.hi * base.scaleLow64);
  Pair sum = exactSum(k * base.twoHigh64, scaled.hi);
  return sum.hi + (sum.lo + fma(k, base.twoLow64, scaledLow));
}

/// What a logarithm gives outside (0, inf): `argument` is 0 for the pole.
Num withSpecials(Num result, Num argument) {
  result = select(isEqual(argument, infinity), argument, result);
  result = select(isEqual(argument, 0.0), -infinity, result);
  return select(compare(Compare::ULT, argument, argument.like(0.0)), nan, result);
}

/// log(1 + r) in the natural base on what a table leaves: (log(1 + r) - r) / r^2, whose error is less than 2^-28 r, and
/// for the fast forms log(1 + r) / r to 2^-17.
constexpr double byTableTail[] = {-0.5, 0x1.555836p-2, -0x1.0013a0p-2, 0x1.826fa4p-3};
constexpr double fastByTable[] = {0x1.000056p+0, -0x1.001e50p-1, 0x1.4a24cap-2};

std::vector<double> multiplied(std::span<const double> coefficients, double factor) {
  std::vector<double> result(coefficients.begin(), coefficients.end());
  for (double &coefficient : result)
    coefficient *= factor;
  return result;
}

/// The logarithm of what was taken apart, with 1 / ln(base) and log_base(2).
Num fastLogarithm(const TakenApart &x, double scale, double two) {
  Num high = fma(x.exponent, two, lookUp(logTable(two).whole, x.index));
  return fma(x.rest, polynomial(x.rest, multiplied(fastByTable, scale)), high);
}

/// The same to half a unit more than the rounding of the sum.
Num logarithmByTable(const TakenApart &x, const Base &base) {
  LogTable table = logTable(base.twoHigh64 + base.twoLow64);
  Num r = x.rest, high = fma(x.exponent, base.twoHigh32, lookUp(table.high, x.index));
  Num low = lookUp(table.low, x.index);
  if (base.twoLow32 != 0)
    low = fma(x.exponent, base.twoLow32, low);
  low = fma(r * r, polynomial(r, multiplied(byTableTail, base.scaleHigh64)), low);
  if (base.scaleLow32 == 0)
    return high + (r + low);
  return high + fma(r, base.scaleHigh32, fma(r, base.scaleLow32, low));
}

Num expandLogarithm(Num x, const Base &base) {
  bool wide = x.isDouble();
  if (!wide && scalesByInstruction(x))
    return logarithmByTable(takeApart(x, /*isOfPositive=*/true), base);
  Num subnormal = x < (wide ? 0x1p-1022 : 0x1p-126);
  Num normal = select(subnormal, x * (wide ? 0x1p54 : 0x1p24), x);
  Split split = splitNormal(normal);
  Num k = toFloat(split.k) + select(subnormal, x.like(wide ? -54.0 : -24.0), 0.0);
  return withSpecials(logarithm(k, split.f, base), x);
}

} // namespace

Num expandLog(Num x) { return expandLogarithm(x, natural); }
Num expandLog2(Num x) { return expandLogarithm(x, binary); }
Num expandLog10(Num x) { return expandLogarithm(x, decimal); }

Num expandFastLog(Num x) {
  if (!scalesByInstruction(x))
    return expandLog(x);
  return fastLogarithm(takeApart(x, /*isOfPositive=*/true), 1.0, natural.twoHigh64 + natural.twoLow64);
}

Num expandFastLog2(Num x) {
  if (!scalesByInstruction(x))
    return expandLog2(x);
  return fastLogarithm(takeApart(x, /*isOfPositive=*/true), binary.scaleHigh64, 1.0);
}

/// 1 + x taken apart, with the rounding error of the sum.
static TakenApart takeOneMoreApart(Num x, Pair one) {
  TakenApart apart = takeApart(one.hi, /*isOfPositive=*/true);
  // Without an error nothing is added, whatever the exponent; one of NaN comes from an infinite sum.
  Num error = scale(one.lo, Num(), -apart.exponent);
  error = select(compare(Compare::ONE, one.lo, x.like(0.0)), error, 0.0);
  apart.rest = fma(error, apart.quotient, apart.rest);
  return apart;
}

Num expandFastLog1P(Num x) {
  if (!scalesByInstruction(x))
    return expandLog1P(x);
  Num sum = x + 1.0;
  TakenApart apart = takeOneMoreApart(x, {sum, x - (sum - 1.0)});
  return select(isEqual(x, 0.0), x, fastLogarithm(apart, 1.0, natural.twoHigh64 + natural.twoLow64));
}

Num expandLog1P(Num x) {
  // 1 + x = sum + error exactly; the error, in units of 2^k, goes back into f.
  Pair one = exactSum(x.like(1.0), x);
  if (!x.isDouble() && scalesByInstruction(x))
    return select(isEqual(x, 0.0), x, logarithmByTable(takeOneMoreApart(x, one), natural));
  Split split = splitNormal(one.hi);
  Num error = select(one.hi < 0x1p64, one.lo * powerOfTwo(-split.k), 0.0);
  Num result = logarithm(toFloat(split.k), split.f + error, natural);
  return select(isEqual(x, 0.0), x, withSpecials(result, one.hi));
}

} // namespace tilejit::math
