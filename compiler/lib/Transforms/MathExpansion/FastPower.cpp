// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// pow of f32 where 2^-16 of the result is enough, for registers of AVX-512: the binary logarithm by LogTable.h as an
// unevaluated sum of two, since y multiplies its error by up to 150, and exp2 of the product by a table. Without such
// registers it is the full form. The special cases are those of IEEE 754.

#include "Functions.h"
#include "LogTable.h"

#include <limits>
#include <numbers>

namespace tilejit::math {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// (log2(1 + r) - r log2(e)) / r^2 on what a table leaves, whose error is less than 2^-27 r.
constexpr double log2Tail[] = {-0x1.715476p-1, 0x1.ec74bcp-2, -0x1.7172eap-2, 0x1.16e29ep-2};

/// log2 |x| to 2^-26 of itself; infinite, and NaN in the low part, at 0 and infinity.
Pair log2Pair(Num x) {
  TakenApart apart = takeApart(x, /*isOfPositive=*/false);
  LogTable table = logTable(1.0);
  Num r = apart.rest, whole = apart.exponent + lookUp(table.high, apart.index);
  Num tail = r * r * polynomial(r, log2Tail), ofRest = fma(r, std::numbers::log2e, tail);
  Num error = fma(r, std::numbers::log2e, -ofRest) + tail;
  Pair sum = exactSumOrdered(whole, ofRest);
  return {sum.hi, sum.lo + (error + lookUp(table.low, apart.index))};
}

/// What a negative x, and 1 and 0 where they decide alone, make of |x|^y.
Num withSign(Num power, Num product, Num x, Num y) {
  Num isWhole = compare(Compare::OEQ, truncate(y), y), half = y * 0.5;
  Num isOdd = isWhole & compare(Compare::ONE, truncate(half), half);
  Num result = select(isOdd, copySign(power, x), power);
  Num undefined = (x < 0.0) & (abs(x) < infinity) & compare(Compare::UNE, truncate(y), y);
  result = select(undefined, nan, result);
  // Infinity times 0 in the exponent comes from |x| = 1 and an infinite y, or from y = 0.
  Num isOne = isNaN(product) & compare(Compare::ORD, x, y);
  return select(isOne | isEqual(x, 1.0) | isEqual(y, 0.0), 1.0, result);
}

} // namespace

Num expandFastPow(Num x, Num y) {
  if (!scalesByInstruction(x))
    return expandPow(x, y);
  Pair log = log2Pair(x);
  constexpr double farAway = 200; // There the result has long been 0 or infinity, whatever the rest.
  Num product = log.hi * y, inside = abs(product) < farAway;
  auto powerOfRest = [&](Num whole) {
    Num rest = fma(log.hi, y, -whole);
    return select(inside, fma(log.lo, y, rest), 0.0);
  };
  return withSign(fastExp2OfSum(clamp(product, -farAway, farAway), powerOfRest), product, x, y);
}

} // namespace tilejit::math
