// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Angles modulo a quarter turn, for every finite number.

#ifndef TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_TRIGREDUCTION_H
#define TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_TRIGREDUCTION_H

#include "Emit.h"

namespace tilejit::math {

/// x = quadrant * pi/2 + rest, |rest| at most a little over pi/4. Only the low two bits of the quadrant mean anything.
/// NaN and infinities give a rest of NaN. For f32 the low part of the rest is not set.
struct QuarterTurn {
  Num quadrant;
  Pair rest;
};

QuarterTurn reduceToQuarterTurn(Num x);

/// x = turns * pi + rest for f32, or with `ofCosine` x = (turns + 1/2) * pi + rest; |rest| at most a little over pi/2.
/// Only the lowest bit of the turns means anything. The rest is off by 2^-32 or so, and is x where both are 0.
struct HalfTurn {
  Num turns, rest;
};

HalfTurn reduceToHalfTurn(Num x, bool ofCosine);

} // namespace tilejit::math

#endif // TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_TRIGREDUCTION_H
