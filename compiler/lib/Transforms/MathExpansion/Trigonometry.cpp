// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// sin, cos, tan from the argument's remainder modulo a quarter turn (TrigReduction.h) and its quadrant. The fast forms
// of sin and cos for f32 take one modulo half a turn, so that one series serves all of it.

#include "Functions.h"
#include "TrigReduction.h"

namespace tilejit::math {

namespace {

// Minimax coefficients in z = r^2 on |r| <= pi/4: (sin r / r - 1) / z and (cos r - 1 + z/2) / z^2.
constexpr double sinTail32[] = {-0x1.555546p-3, 0x1.11074cp-7, -0x1.9947c4p-13};
constexpr double sinTail64[] = {-0x1.5555555555549p-3, 0x1.111111110f802p-7,   -0x1.a01a019c01d56p-13,
                                0x1.71de3569797ddp-19, -0x1.ae5e5aac49f7ep-26, 0x1.5d8f8b52a9e93p-33};
constexpr double cosTail32[] = {0x1.55554ap-5, -0x1.6c0c78p-10, 0x1.99fc34p-16};
constexpr double cosTail64[] = {0x1.555555555554bp-5,   -0x1.6c16c16c15100p-10, 0x1.a01a019ca4cc5p-16,
                                -0x1.27e4f80025399p-22, 0x1.1ee9e4f9ddefbp-29,  -0x1.8faae315d1821p-37};

/// sin r / r in z on |r| <= pi/2, to 2^-20.
constexpr double fastSin[] = {0x1.ffffe0p-1, -0x1.554f78p-3, 0x1.105cd4p-7, -0x1.83b2a8p-13};

/// sin and cos of the remainder.
struct SinCos {
  Num sin, cos;
};

SinCos evaluate(const QuarterTurn &turn) {
  Num r = turn.rest.hi, z = r * r;
  if (!r.isDouble())
    return {fma(z * r, polynomial(z, sinTail32), r), fma(z, fma(z, polynomial(z, cosTail32), -0.5), 1.0)};
  Num low = turn.rest.lo;
  Num half = z * 0.5, nearOne = 1.0 - half;
  Num sin = r + fma(z * r, polynomial(z, sinTail64), low * nearOne);
  Num tail = z * z * polynomial(z, cosTail64) - r * low;
  return {sin, nearOne + (((1.0 - nearOne) - half) + tail)};
}

/// Flips the sign where bit 1 of a number is set.
Num flipByBit1(Num value, Num number) {
  Num sign = (number & 2) << (value.width() - 2);
  return floatOf(bitsOf(value) ^ sign);
}

Num isOdd(Num quadrant) { return isNotZeroInt(quadrant & 1); }

} // namespace

Num expandSin(Num x) {
  QuarterTurn turn = reduceToQuarterTurn(x);
  SinCos value = evaluate(turn);
  Num result = flipByBit1(select(isOdd(turn.quadrant), value.cos, value.sin), turn.quadrant);
  return select(isEqual(x, 0.0), x, result); // Keeps the sign of zero.
}

Num expandCos(Num x) {
  QuarterTurn turn = reduceToQuarterTurn(x);
  SinCos value = evaluate(turn);
  return flipByBit1(select(isOdd(turn.quadrant), value.sin, value.cos), addInt(turn.quadrant, 1));
}

/// The sine of the remainder, with the other sign where the turns are odd.
static Num fastSinOf(const HalfTurn &turn) {
  Num sin = turn.rest * polynomial(turn.rest * turn.rest, fastSin);
  return floatOf(bitsOf(sin) ^ (turn.turns << 31));
}

Num expandFastSin(Num x) { return fastSinOf(reduceToHalfTurn(x, /*ofCosine=*/false)); }

Num expandFastCos(Num x) {
  HalfTurn turn = reduceToHalfTurn(x, /*ofCosine=*/true);
  turn.turns = addInt(turn.turns, 1); // cos x = sin(x + pi/2)
  return fastSinOf(turn);
}

Num expandTan(Num x) {
  QuarterTurn turn = reduceToQuarterTurn(x);
  SinCos value = evaluate(turn);
  Num odd = isOdd(turn.quadrant);
  Num result = select(odd, -value.cos, value.sin) / select(odd, value.sin, value.cos);
  return select(isEqual(x, 0.0), x, result);
}

} // namespace tilejit::math
