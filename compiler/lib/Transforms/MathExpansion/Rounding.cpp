// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rounding to integers and the fused multiply-add, for targets without instructions for them; rsqrt.

#include "Functions.h"

#include <limits>

namespace tilejit::math {

Num expandRsqrt(Num x) { return 1.0 / sqrt(x); }

Num expandFastRsqrt(Num x) {
  if (!scalesByInstruction(x))
    return expandRsqrt(x);
  // A step of Newton's method, but not at 0 and infinity, whose own product is NaN.
  Num root = approximateRsqrt(x), error = fma(root * x, -root, 1.0);
  return select(isNaN(error), root, fma(root * 0.5, error, root));
}

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

/// The sum rounded to odd: where it is inexact, to the neighbour with an odd significand. Rounding that once more, to
/// at least two bits less, gives what rounding the exact sum to nearest would.
static Num sumToOdd(Num a, Num b) {
  Pair sum = exactSum(a, b);
  Num bits = bitsOf(sum.hi), even = isZeroInt(bits & 1);
  // Toward the rest: one step up or down in magnitude makes an even significand odd.
  Num sameSign = compareInt(mlir::arith::CmpIPredicate::sge, bits ^ bitsOf(sum.lo), bits.likeInt(0));
  Num odd = floatOf(select(sameSign, addInt(bits, 1), addInt(bits, -1)));
  Num inexact = compare(Compare::ONE, sum.lo, sum.lo.like(0.0));
  return select(even & inexact, odd, sum.hi);
}

namespace {
/// Factors and addend of a multiply-add of doubles, scaled so that no step of the exact product and sum leaves the
/// range.
struct ScaledFma {
  Num a, b, c;
  Num big, small; ///< The result is 2^-100 or 2^300 times what it should be.
};
} // namespace

static ScaledFma scaleFma(Num x, Num y, Num z) {
  Num estimate = abs(x * y);
  // A product beyond the range may come back into it with z; the low half of a small one would be cut.
  ScaledFma s;
  s.big = estimate >= 0x1p1000;
  s.small = estimate < 0x1p-800;
  Num smallX = s.small & (abs(x) <= abs(y)), smallY = s.small & (smallX ^ 1);
  s.a = select(s.big, x * 0x1p-100, select(smallX, x * 0x1p300, x));
  s.b = select(smallY, y * 0x1p300, y);
  // Beside a big product only the sign of a small z counts, but that must not underflow.
  Num counts = (abs(z) < 0x1p-800) & compare(Compare::ONE, z, z.like(0.0));
  Num visible = select(counts, copySign(z.like(0x1p-800), z), z);
  s.c = select(s.big, visible * 0x1p-100, select(s.small, z * 0x1p300, z));
  return s;
}

/// For doubles, rounded once: the exact product and z are summed to two numbers, the smaller one rounded to odd
/// (Boldo and Melquiond). Subnormal results are rounded by adding a number whose last place is theirs.
static Num expandDoubleFma(Num x, Num y, Num z) {
  ScaledFma s = scaleFma(x, y, z);
  // Splitting a factor near the end of the range would overflow: move a power of two to the other factor. Where both
  // are large the product is infinite.
  Num aLarge = abs(s.a) > 0x1p990, bLarge = abs(s.b) > 0x1p990;
  Num aOnly = aLarge & (bLarge ^ 1), bOnly = bLarge & (aLarge ^ 1);
  auto balanced = [](Num down, Num up, Num value) {
    return select(down, value * 0x1p-500, select(up, value * 0x1p500, value));
  };
  Pair product = exactProduct(balanced(aOnly, bOnly, s.a), balanced(bOnly, aOnly, s.b));
  Pair low = exactSum(s.c, product.lo), high = exactSum(product.hi, low.hi);
  Num rest = sumToOdd(low.lo, high.lo), sum = high.hi + rest;

  Num normal = sum.like(0x1p-722); // The smallest normal number, scaled by 2^300.
  Num isSubnormal = s.small & (abs(sum) < normal);
  Num grid = copySign(normal, sum);
  Pair shifted = exactSum(grid, high.hi);
  Num subnormal = copySign((shifted.hi + sumToOdd(shifted.lo, rest)) - grid, sum);

  Num one = sum.like(1.0);
  Num result = select(isSubnormal, subnormal, sum) * select(s.big, 0x1p100, select(s.small, 0x1p-300, one));
  Num infinity = x.like(std::numeric_limits<double>::infinity());
  Num unusable = compare(Compare::UGE, abs(result), infinity);
  Num plain = x * y;
  // Beside an infinite z only the kind of the product counts: finite, infinite or none. It must not overflow.
  auto lowered = [](Num value) { return select(abs(value) >= 1.0, value * 0x1p-600, value); };
  Num finite = select(compare(Compare::OEQ, abs(z), infinity), lowered(x) * lowered(y), plain);
  // Without z the product is rounded once already; a small one keeps its sign, which steps in between may lose.
  Num zero = x.like(0.0);
  Num noProduct = compare(Compare::OEQ, x, zero) | compare(Compare::OEQ, y, zero);
  Num alone = select(noProduct, plain + z, plain);
  return select(compare(Compare::OEQ, z, zero), alone, select(unusable, finite + z, result));
}

Num expandFma(Num x, Num y, Num z) {
  if (x.isDouble())
    return expandDoubleFma(x, y, z);
  // The exact product and z in f64, so that the rounding to f32 is the only one.
  return narrow(sumToOdd(widen(x) * widen(y), widen(z)));
}

} // namespace tilejit::math
