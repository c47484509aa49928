// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// erf and erfc. Near 0 erf is odd in x; farther out the complement is what is computed, because 1 - erf would cancel.
// With AVX-512 erf is x times the even function erf(d) / d of the distance d = |x|, which stays between 1.13 and 1/4
// until erf is 1, so that a table of polynomials (2^-27.6 of it off at most, before coefficients are rounded) does for
// all x.

#include "Functions.h"

#include <cmath>

namespace tilejit::math {

namespace {

// Minimax coefficients of erf(x) / x - 1 in x^2, for |x| <= 0.95 and |x| <= 1.
constexpr double smallTail32[] = {0x1.06eba8p-3, -0x1.812742p-2,  0x1.ce2dccp-4, -0x1.b80962p-6,
                                  0x1.54966cp-8, -0x1.a88da2p-11, 0x1.574eb2p-14};
constexpr double smallTail64[] = {0x1.06eba8214db68p-3,   -0x1.812746b0379b3p-2,  0x1.ce2f21a0406a9p-4,
                                  -0x1.b82ce311e03d6p-6,  0x1.565bccf5b85aep-8,   -0x1.c02dafb760017p-11,
                                  0x1.f9a2aded3c4b2p-14,  -0x1.f4c987ad6b9d5p-17, 0x1.b978234bfc33ap-20,
                                  -0x1.5bd7b7c9b8ec5p-23, 0x1.d5d0f6f815e0ap-27,  -0x1.a7d0010473256p-31};
// ln(erfc(x)) for 0.9 <= x <= 4.05.
constexpr double logErfc32[] = {0x1.62d7e0p-13, -0x1.212626p+0, -0x1.444d1ep-1, -0x1.bb4546p-4,
                                0x1.9aebacp-6,  -0x1.10624ep-8, 0x1.c4591ap-12, -0x1.5d71fcp-16};
// (1 + 2x) erfc(x) exp(x^2) in (x - 4) / (x + 4), for 0.48 <= x <= 27.5.
constexpr double scaledErfc64[] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28ep-3,  0x1.f7f5df66fd543p-7,   0x1.16ecefcfa5369p-4,
    -0x1.9ddb23c3e7b66p-4,  0x1.7fee004e12d91p-4,   -0x1.0fb06dfe6d844p-4,  0x1.3079edf6698f3p-5,
    -0x1.0962387d39b59p-6,  0x1.49c672912f1ecp-8,   -0x1.8d4aa1d2b6ca9p-11, -0x1.a1df314e39856p-13,
    0x1.3be0dc6e3e8f4p-13,  -0x1.99573bc619849p-16, -0x1.78a4b6a2e7b69p-17, 0x1.7f0c00d0041bap-18,
    0x1.41d604b802993p-22,  -0x1.b90b9ce457423p-21, 0x1.1f3ead99be00fp-24,  0x1.c296de02bae7ep-24,
    -0x1.a24617d393b60p-27, -0x1.5facb046eb436p-27};

// The same for 0.49 <= x <= 10.6.
constexpr double scaledErfc32[] = {0x1.3ba592p+0, -0x1.1df1acp-3, 0x1.f7f59ap-7, 0x1.16ebb4p-4,  -0x1.9ddc02p-4,
                                   0x1.80075ap-4, -0x1.0f8edep-4, 0x1.2f271ap-5, -0x1.0dfcb6p-6, 0x1.5da706p-8};

/// erfc for x >= 0.5. The part of x^2 that its rounding drops is put back, since the exponential magnifies it.
Num erfcTail(Num x) {
  bool wide = x.isDouble();
  Num bounded = clamp(x, 0.5, wide ? 28.0 : 10.5);
  Num t = (bounded - 4.0) / (bounded + 4.0);
  std::span<const double> coefficients = wide ? std::span<const double>(scaledErfc64) : scaledErfc32;
  Num scaled = polynomial(t, coefficients) / fma(bounded, bounded.like(2.0), bounded.like(1.0));
  Pair square = exactProduct(bounded, bounded);
  Num factor = scaled - scaled * square.lo;
  return expandExp(-square.hi) * factor;
}

Num erfNearZero(Num x) {
  Num z = x * x;
  return fma(x, polynomial(z, x.isDouble() ? std::span<const double>(smallTail64) : smallTail32), x);
}

double erfOverDistance(double d) { return std::erf(d) / d; }

Num erfByTable(Num x) {
  constexpr double width = 16.0 / 59;
  constexpr IntervalTable::Last one = {.from = 3.93, .distance = 4, .value = 0.25}; // 1 - erf is 2^-25.1 there.
  static const IntervalTable table = tabulate(erfOverDistance, width, one);
  auto [near, ratio] = evaluate(table, abs(x));
  return copySign(near * ratio, x);
}

} // namespace

Num expandErf(Num x) {
  if (!x.isDouble() && scalesByInstruction(x))
    return erfByTable(x);
  Num magnitude = abs(x), far;
  if (x.isDouble())
    far = 1.0 - erfcTail(magnitude);
  else // The exponent's rounding error counts only as far as erfc is not small against 1.
    far = 1.0 - expandExp(polynomial(clamp(magnitude, 0.9, 4.05), logErfc32));
  Num near = magnitude < (x.isDouble() ? 1.0 : 0.92);
  return select(near, erfNearZero(x), copySign(far, x));
}

Num expandErfc(Num x) {
  Num tail = erfcTail(abs(x));
  Num far = select(x < 0.0, 2.0 - tail, tail);
  return select(abs(x) < 0.5, 1.0 - erfNearZero(x), far);
}

} // namespace tilejit::math
