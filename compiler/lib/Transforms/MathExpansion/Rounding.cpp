// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rounding to integers and the fused multiply-add, for targets without instructions for them; rsqrt.

#include "Functions.h"

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

Num expandFma(Num x, Num y, Num z) {
  // The sum of the exact product and z, rounded to odd, so that the rounding to the final width is the only one.
  bool isSingle = !x.isDouble();
  Pair product = isSingle ? Pair{widen(x) * widen(y), Num()} : exactProduct(x, y);
  Pair sum = exactSum(product.hi, isSingle ? widen(z) : z);
  Num rest = isSingle ? sum.lo : sum.lo + product.lo;
  if (!isSingle)
    return select(abs(sum.hi) < 0x1p1023, sum.hi + rest, sum.hi);
  Num bits = bitsOf(sum.hi), even = isZeroInt(bits & 1);
  // Toward the rest: one step up or down in magnitude makes an even significand odd.
  Num sameSign = compareInt(mlir::arith::CmpIPredicate::sge, bits ^ bitsOf(rest), bits.likeInt(0));
  Num odd = floatOf(select(sameSign, addInt(bits, 1), addInt(bits, -1)));
  Num inexact = compare(Compare::ONE, rest, rest.like(0.0));
  return narrow(select(even & inexact, odd, sum.hi));
}

} // namespace tilejit::math
