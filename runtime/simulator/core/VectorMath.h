// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Elementary functions of one lane, for loops over lanes. Those of f32 are computed in double without branches, so that
// such a loop becomes vector code, and rounded once: off by at most 0.501 units in the last place. Functions of double
// are libm's. `hard` arguments (huge angles, odd powers) need the slow form; see mapWithFallback.

#ifndef TILEJIT_SIMULATOR_CORE_VECTORMATH_H
#define TILEJIT_SIMULATOR_CORE_VECTORMATH_H

#include "core/Lanes.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tilejit::sim::lane {

inline double multiplyAdd(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// c[I] + c[I + 1] x + ...; written out, so that loops over lanes stay the innermost ones.
template <unsigned I = 0, unsigned N> inline double polynomial(const double (&c)[N], double x) {
  if constexpr (I + 1 == N)
    return c[I];
  else
    return multiplyAdd(polynomial<I + 1>(c, x), x, c[I]);
}

// Adding this to a double below 2^51 puts its nearest integer into the low bits.
inline constexpr double roundingMagic = 0x1.8p52;

/// 2 to the x for |x| <= 1000.
inline double exp2Core(double x) {
  // Powers of ln 2 over factorials.
  constexpr double c[] = {1.0,
                          0x1.62e42fefa39efp-1,
                          0.24022650695910072,
                          0.05550410866482158,
                          0.009618129107628477,
                          0.0013333558146428443,
                          0.0001540353039338161,
                          1.5252733804059841e-05,
                          1.321548679014431e-06,
                          1.01780860092397e-07,
                          7.054911620801123e-09,
                          4.4455382718708116e-10,
                          2.5678435993488206e-11};
  double shifted = x + roundingMagic, whole = shifted - roundingMagic;
  double value = polynomial(c, x - whole);
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) + (std::bit_cast<uint64_t>(shifted) << 52));
}

inline double clampExponent(double x) {
  x = x < -1000.0 ? -1000.0 : x;
  return x > 1000.0 ? 1000.0 : x;
}

inline float keepNan(float x, double value) { return x == x ? static_cast<float>(value) : x + x; }

/// log2 of a positive normal double.
inline double log2Core(double x) {
  constexpr uint64_t rootHalf = 0x3fe6a09e667f3bcdull, one = 0x3ff0000000000000ull;
  uint64_t bits = std::bit_cast<uint64_t>(x) + (one - rootHalf);
  // The exponent as a double, by way of the mantissa of 2^52.
  double exponent = std::bit_cast<double>((bits >> 52) | 0x4330000000000000ull) - (0x1p52 + 1023.0);
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffull) + rootHalf);
  double s = (m - 1.0) / (m + 1.0);
  // 2/ln 2 times 1, 1/3, 1/5, ...: the series of artanh.
  constexpr double k = 2 * 1.4426950408889634;
  constexpr double c[] = {k, k / 3, k / 5, k / 7, k / 9, k / 11, k / 13, k / 15, k / 17, k / 19};
  return multiplyAdd(s, polynomial(c, s * s), exponent);
}

/// What logarithms of zero, negative numbers, infinity and NaN are.
inline float finishLog(float x, double value) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float result = static_cast<float>(value);
  result = x == infinity ? infinity : result;
  result = x == 0.0f ? -infinity : result;
  return x >= 0.0f ? result : std::numeric_limits<float>::quiet_NaN();
}

inline float exp2(float x) { return keepNan(x, exp2Core(clampExponent(x))); }
inline float exp(float x) { return keepNan(x, exp2Core(clampExponent(x * 1.4426950408889634))); }
inline float exp10(float x) { return keepNan(x, exp2Core(clampExponent(x * 3.3219280948873623))); }
inline float log2(float x) { return finishLog(x, log2Core(x)); }
inline float log(float x) { return finishLog(x, log2Core(x) * 0.6931471805599453); }
inline float log10(float x) { return finishLog(x, log2Core(x) * 0.30102999566398120); }

inline float tanh(float x) {
  double a = std::fabs(static_cast<double>(x)), t = a * a;
  a = a > 20.0 ? 20.0 : a;
  double power = exp2Core(a * (2 * 1.4426950408889634));
  double large = 1.0 - 2.0 / (power + 1.0);
  // The difference above loses places near zero; the series of tanh there does not.
  constexpr double c[] = {1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835};
  double small = a * polynomial(c, t);
  double value = a < 0.03125 ? small : large;
  return keepNan(x, std::bit_cast<uint32_t>(x) >> 31 ? -value : value);
}

inline float erf(float x) {
  // erf(x) / x as a polynomial in x^2 / 8 - 1, through its values at the Chebyshev points of [0, 4].
  constexpr double c[] = {0.35353099564340495,   -0.1765762332142376,    0.13167511686631903,    -0.1077104489095233,
                          0.0902089961907006,    -0.07472772837517466,   0.059886860225133925,   -0.045766463466210563,
                          0.03306107366347555,   -0.022466263707243098,  0.014347216896437105,   -0.008629832983801853,
                          0.004861257452313889,  -0.0025306721064139617, 0.001277072805758373,   -0.0006727975797938545,
                          0.0002951384370466126, -7.246152144638048e-05, 3.2979383818983124e-05, -3.668360645354812e-05,
                          1.2874054698224224e-05};
  double a = std::fabs(static_cast<double>(x));
  a = a > 4.0 ? 4.0 : a;
  double value = a * polynomial(c, a * a * 0.125 - 1.0);
  value = a > 3.95 ? 1.0 : value;
  return keepNan(x, std::bit_cast<uint32_t>(x) >> 31 ? -value : value);
}

/// Sine and cosine of angles below 2^20.
struct SineCosine {
  double sine, cosine;
};
inline SineCosine sineCosineCore(double x) {
  double shifted = multiplyAdd(x, 0x1.45f306dc9c883p-1, roundingMagic), n = shifted - roundingMagic;
  // pi/2 in three pieces; the products with the first two are exact.
  double r = ((x - n * 0x1.921fb54400000p+0) - n * 0x1.0b4611a600000p-34) - n * 0x1.3198a2e037073p-69, t = r * r;
  constexpr double s[] = {1.0,           -1.0 / 6,         1.0 / 120,         -1.0 / 5040,
                          1.0 / 362880., -1.0 / 39916800., 1.0 / 6227020800., -1.0 / 1307674368000.};
  constexpr double c[] = {1.0,
                          -1.0 / 2,
                          1.0 / 24,
                          -1.0 / 720,
                          1.0 / 40320.,
                          -1.0 / 3628800.,
                          1.0 / 479001600.,
                          -1.0 / 87178291200.,
                          1.0 / 20922789888000.};
  double sine = r * polynomial(s, t), cosine = polynomial(c, t);
  uint64_t quadrant = std::bit_cast<uint64_t>(shifted);
  double first = quadrant & 1 ? cosine : sine, second = quadrant & 1 ? sine : cosine;
  return {quadrant & 2 ? -first : first, (quadrant + 1) & 2 ? -second : second};
}

struct Sine {
  static bool hard(float x) { return !(std::fabs(x) < 0x1p20f); }
  static float slow(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); }
  static float fast(float x) { return x == 0.0f ? x : static_cast<float>(sineCosineCore(x).sine); }
};
struct Cosine {
  static bool hard(float x) { return Sine::hard(x); }
  static float slow(float x) { return static_cast<float>(std::cos(static_cast<double>(x))); }
  static float fast(float x) { return static_cast<float>(sineCosineCore(x).cosine); }
};
struct Tangent {
  static bool hard(float x) { return Sine::hard(x); }
  static float slow(float x) { return static_cast<float>(std::tan(static_cast<double>(x))); }
  static float fast(float x) {
    SineCosine both = sineCosineCore(x);
    return x == 0.0f ? x : static_cast<float>(both.sine / both.cosine);
  }
};
struct Power {
  static bool hard(float x, float y) {
    return !((x > 0.0f) & (x <= std::numeric_limits<float>::max()) & (std::fabs(y) <= 0x1p30f));
  }
  static float slow(float x, float y) {
    return static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(y)));
  }
  static float fast(float x, float y) {
    return static_cast<float>(exp2Core(clampExponent(static_cast<double>(y) * log2Core(x))));
  }
};

/// to[l] = F::fast(a[l]...), or F::slow where F::hard says so. `to` may be one of the sources.
template <unsigned W, class F, class... A> inline void mapWithFallback(LaneMask mask, float *to, const A *...a) {
  alignas(64) uint8_t flags[W];
  for (unsigned l = 0; l < W; ++l)
    flags[l] = F::hard(a[l]...);
  LaneMask hard = maskOf<W>(flags) & mask;
  float slow[W];
  if (hard) [[unlikely]]
    forEachLane(hard, [&](unsigned l) { slow[l] = F::slow(a[l]...); });
  map<W>(mask & ~hard, to, [=](unsigned l) { return F::fast(a[l]...); });
  if (hard) [[unlikely]]
    forEachLane(hard, [&](unsigned l) { to[l] = slow[l]; });
}

} // namespace tilejit::sim::lane

#endif // TILEJIT_SIMULATOR_CORE_VECTORMATH_H
