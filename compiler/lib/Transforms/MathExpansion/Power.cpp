// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// pow. f32 is computed in f64, whose 29 extra bits pay for the multiplication of the logarithm by y. f64 carries the
// logarithm and the product as unevaluated sums of two.

#include "Functions.h"

#include <limits>

namespace tilejit::math {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// (2 atanh(s) / s - 2) / s^2 in s^2 to 2^-44, and (2 atanh(s) / s - 2 - 2/3 s^2) / s^4 in s^2 to 2^-66; |s| <= 0.1718.
constexpr double atanhTail[] = {0x1.5555555620acfp-1, 0x1.999996a1d79e2p-2, 0x1.2494156475aacp-2, 0x1.c629d67abb599p-3,
                                0x1.9128f0d848e59p-3};
constexpr double atanhTail2[] = {0x1.9999999999b38p-2, 0x1.2492492456e7bp-2, 0x1.c71c722ec2453p-3, 0x1.745ce96775946p-3,
                                 0x1.3b1f032aa3dc6p-3, 0x1.0f7dbd3de1c05p-3, 0x1.0e5772de18991p-3};
/// (2^r - 1) / r for |r| <= 1/2, to 2^-40.
constexpr double exp2Tail[] = {0x1.62e42fef89369p-1,  0x1.ebfbdff8f294ap-3,  0x1.c6b08dd08262fp-5,
                               0x1.3b2ab5e881c2fp-7,  0x1.5d874aea49044p-10, 0x1.430aad7eedd2cp-13,
                               0x1.00d9c4a6bb4bep-16, 0x1.61c34ed659f27p-20};
/// (e^r - 1 - r) / r^2 for |r| <= ln2 / 2.
constexpr double expTail[] = {0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.555555555553ep-5,
                              0x1.111111110f63dp-7,  0x1.6c16c16c1f387p-10, 0x1.a01a01b01a769p-13,
                              0x1.a01a017b256eap-16, 0x1.71ddf7ba40c06p-19, 0x1.27e536d8ec23cp-22,
                              0x1.af5fe9496984ep-26, 0x1.1ee8826e45831p-29};

struct Split {
  Num k, m; ///< x = 2^k * m, m in [sqrt(1/2), sqrt(2)); k as a double.
};

Split splitDouble(Num x) {
  Num subnormal = x < 0x1p-1022;
  Num bits = bitsOf(select(subnormal, x * 0x1p54, x));
  Num k = shiftRight(addInt(bits, -0x3fe6a09e00000000), 52);
  Num adjusted = toFloat(k) + select(subnormal, x.like(-54.0), 0.0);
  return {adjusted, floatOf(bits - (k << 52))};
}

/// The power of a positive finite x, to 2^-30 or so, saturated at 2^200.
Num powCoarse(Num x, Num y) {
  Split split = splitDouble(x);
  Num f = split.m - 1.0, s = f / (f + 2.0), z = s * s;
  Num natural = fma(s * z, polynomial(z, atanhTail), s + s);
  Num log = fma(natural, 0x1.71547652b82fep+0, split.k);
  Num t = clamp(y * log, -200.0, 200.0);
  Num magic = t.like(0x1.8p52), shifted = t + magic, r = t - (shifted - magic);
  return fma(r, polynomial(r, exp2Tail), 1.0) * powerOfTwo(bitsOf(shifted) - bitsOf(magic));
}

/// ln x of a positive finite x as a sum of two, to 2^-65.
Pair logPair(Num x) {
  Split split = splitDouble(x);
  Num f = split.m - 1.0;
  // s = f / (2 + f) with the rounding errors of the sum and of the quotient in its low part.
  Pair divisor = exactSum(f, f.like(2.0));
  Num s = f / divisor.hi;
  Pair back = exactProduct(s, divisor.hi);
  Num sLow = (((f - back.hi) - back.lo) - s * divisor.lo) / divisor.hi;
  // 2 s + 2/3 s^3 in two parts, the rest in one.
  Pair z = exactProduct(s, s);
  Num zLow = z.lo + s * sLow * 2.0;
  Pair cube = exactProduct(z.hi, s);
  Num cubeLow = cube.lo + (z.hi * sLow + zLow * s);
  Pair third = exactProduct(cube.hi, cube.hi.like(0x1.5555555555555p-1));
  Num thirdLow = third.lo + fma(cubeLow, 0x1.5555555555555p-1, cube.hi * 0x1.5555555555555p-55);
  Num rest = cube.hi * z.hi * polynomial(z.hi, atanhTail2);
  Pair sum = exactSumOrdered(s * 2.0, third.hi);
  Num low = sum.lo + (sLow * 2.0 + (thirdLow + rest));
  // k ln 2: the first part has 32 bits, its product is exact.
  Pair total = exactSum(split.k * 0x1.62e42feep-1, sum.hi);
  Num k2 = split.k;
  Pair tail = exactProduct(k2, k2.like(0x1.a39ef35793c76p-33));
  Pair lower = exactSum(total.lo, tail.hi);
  Pair result = exactSum(total.hi, lower.hi);
  return exactSumOrdered(result.hi, result.lo + (lower.lo + (tail.lo + low)));
}

/// The power of a positive finite x.
Num powFine(Num x, Num y) {
  Pair log = logPair(x);
  Num bounded = clamp(y, -0x1p100, 0x1p100); // Beyond, every x but 1 gives 0 or infinity.
  Pair product = exactProduct(log.hi, bounded);
  Num low = fma(log.lo, bounded, product.lo);
  Num inside = abs(product.hi) < 1000.0;
  Num high = clamp(product.hi, -760.0, 720.0);
  low = select(inside, low, 0.0);
  Num magic = high.like(0x1.8p52), shifted = fma(high, 0x1.71547652b82fep+0, magic), n = shifted - magic;
  Num r = fma(n, -0x1.62e42feep-1, high);
  Pair reduced = exactSum(r, low - n * 0x1.a39ef35793c76p-33);
  Num e = fma(reduced.hi * reduced.hi, polynomial(reduced.hi, expTail), reduced.hi);
  Num power = (e + (reduced.lo + reduced.lo * e)) + 1.0;
  return scale(power, bitsOf(shifted) - bitsOf(magic), n);
}

/// Zeros, infinities, NaN and negative x, as IEEE 754 says.
Num withSpecials(Num power, Num x, Num y) {
  Num magnitude = abs(x);
  Num isWhole = compare(Compare::OEQ, truncate(y), y);
  Num half = y * 0.5;
  Num isOdd = isWhole & compare(Compare::ONE, truncate(half), half);
  Num zeroOrInfinite = isEqual(magnitude, 0.0) | isEqual(magnitude, infinity);
  // At 0 and infinity the result is one of them.
  Num grows = compareInt(mlir::arith::CmpIPredicate::eq, isEqual(magnitude, infinity), y > 0.0);
  Num limit = select(grows, infinity, y.like(0.0));
  Num result = select(zeroOrInfinite, limit, power);
  // An infinite y: 1 at 1, else 0 or infinity.
  Num yInfinite = isEqual(abs(y), infinity);
  Num beyond = compareInt(mlir::arith::CmpIPredicate::eq, magnitude > 1.0, y > 0.0);
  Num atInfinity = select(isEqual(magnitude, 1.0), 1.0, select(beyond, infinity, y.like(0.0)));
  result = select(yInfinite, atInfinity, result);
  Num flipped = select(isOdd, copySign(result, x), result);
  Num undefined = (x < 0.0) & (magnitude < infinity) & compare(Compare::UNE, truncate(y), y);
  result = select(undefined | isNaN(x) | isNaN(y), nan, flipped);
  return select(isEqual(x, 1.0) | isEqual(y, 0.0), 1.0, result);
}

/// Keeps zeros, infinities and NaN out of the logarithm.
Num positiveFinite(Num x) {
  Num magnitude = abs(x);
  return select((magnitude > 0.0) & (magnitude < infinity), magnitude, 1.0);
}

} // namespace

Num expandPow(Num x, Num y) {
  if (x.isDouble())
    return withSpecials(powFine(positiveFinite(x), y), x, y);
  Num wideX = widen(x), wideY = widen(y);
  return narrow(withSpecials(powCoarse(positiveFinite(wideX), wideY), wideX, wideY));
}

Num expandPowInt(Num x, Num n) {
  Num wideN = n.width() == 64 ? n : extendInt(n, 64, /*isSigned=*/true);
  Num y = toFloat(wideN);
  if (x.isDouble())
    return expandPow(x, y);
  Num wideX = widen(x);
  return narrow(withSpecials(powCoarse(positiveFinite(wideX), y), wideX, y));
}

} // namespace tilejit::math
