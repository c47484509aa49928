// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rounding to integers and the fused multiply-add, for targets without instructions for them; rsqrt.

#include "Functions.h"

#include <limits>

namespace tilejit::math {

Num expandRsqrt(Num x) { return 1.0 / sqrt(x); }

Num expandFloor(Num x) {
  Num whole = truncate(x);
  return select(whole > x, whole - 1.0, whole);
}

Num expandCeil(Num x) {
  Num whole = truncate(x);
  return select(whole < x, copySign(whole + 1.0, x), whole);
}

Num expandRoundEven(Num x) {
  double magic = x.isDouble() ? 0x1p52 : 0x1p23;
  Num magnitude = abs(x);
  Num rounded = copySign((magnitude + magic) - magic, x);
  return select(magnitude < magic, rounded, x);
}

Num expandRoundAway(Num x) {
  Num whole = truncate(x), rest = abs(x - whole);
  return select(rest >= 0.5, whole + copySign(x.like(1.0), x), whole);
}

/// For doubles: twice rounded only where the two low parts of the sum meet, far below an ulp.
static Num expandDoubleFma(Num x, Num y, Num z) {
  // A product beyond the range may come back into it with z: work on smaller numbers there.
  Num big = abs(x * y) >= 0x1p1000;
  Num a = select(big, x * 0x1p-100, x), c = select(big, z * 0x1p-100, z);
  // Splitting a factor near the end of the range would overflow: move a power of two to the other factor. Where both
  // are large the product is infinite.
  Num aLarge = abs(a) > 0x1p990, yLarge = abs(y) > 0x1p990;
  Num aOnly = aLarge & (yLarge ^ 1), yOnly = yLarge & (aLarge ^ 1);
  auto balanced = [](Num down, Num up, Num value) {
    return select(down, value * 0x1p-500, select(up, value * 0x1p500, value));
  };
  Pair product = exactProduct(balanced(aOnly, yOnly, a), balanced(yOnly, aOnly, y));
  Pair sum = exactSum(product.hi, c);
  Num exact = sum.hi + (sum.lo + product.lo);
  Num result = select(big, exact * 0x1p100, exact);
  Num unusable = compare(Compare::UGE, abs(result), x.like(std::numeric_limits<double>::infinity()));
  return select(unusable, x * y + z, result);
}

Num expandFma(Num x, Num y, Num z) {
  if (x.isDouble())
    return expandDoubleFma(x, y, z);
  // The sum of the exact product and z in f64, rounded to odd, so that the rounding to f32 is the only one.
  Pair sum = exactSum(widen(x) * widen(y), widen(z));
  Num bits = bitsOf(sum.hi), even = isZeroInt(bits & 1);
  // Toward the rest: one step up or down in magnitude makes an even significand odd.
  Num sameSign = compareInt(mlir::arith::CmpIPredicate::sge, bits ^ bitsOf(sum.lo), bits.likeInt(0));
  Num odd = floatOf(select(sameSign, addInt(bits, 1), addInt(bits, -1)));
  Num inexact = compare(Compare::ONE, sum.lo, sum.lo.like(0.0));
  return narrow(select(even & inexact, odd, sum.hi));
}

} // namespace tilejit::math
