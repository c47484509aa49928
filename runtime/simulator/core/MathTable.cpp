// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The table of floating-point functions and their lane code. Common ones are vector code; the rest calls libm in
// double.

#include "core/MathTable.h"

#include "core/MathLanes.h"
#include "core/VectorMath.h"

#include <algorithm>
#include <array>

namespace tilejit::sim {

namespace {

// --- Arithmetic and rounding ---------------------------------------------------------------------------------------

template <class T> T canonical(T a) { return wide(a) != wide(a) ? T(wide(a) + wide(a)) : a; }
template <class T> T floorOf(T a) { return T(std::floor(wide(a))); }
template <class T> T ceilOf(T a) { return T(std::ceil(wide(a))); }
template <class T> T truncOf(T a) { return T(std::trunc(wide(a))); }
template <class T> T rintOf(T a) { return T(std::rint(wide(a))); }
template <class T> T roundOf(T a) { return T(roundAway(wide(a))); }
template <class T> T fractOf(T a) {
  // The largest number below one bounds what rounding could turn into one.
  Wide<T> x = wide(a), rest = x - std::floor(x);
  T result = T(rest);
  return wide(result) >= 1 ? fromBits<T>(static_cast<BitsOf<T>>(bitsOf(T(Wide<T>(1))) - 1)) : result;
}
template <class T> T sqrtOf(T a) { return T(std::sqrt(wide(a))); }
template <class T> T rsqrtOf(T a) { return T(static_cast<Wide<T>>(1.0 / std::sqrt(static_cast<double>(wide(a))))); }
template <class T> T reciprocalOf(T a) { return T(Wide<T>(1) / wide(a)); }
template <class T> T addOf(T a, T b) { return T(wide(a) + wide(b)); }
template <class T> T subOf(T a, T b) { return T(wide(a) - wide(b)); }
template <class T> T mulOf(T a, T b) { return T(wide(a) * wide(b)); }
template <class T> T divOf(T a, T b) { return T(wide(a) / wide(b)); }
template <class T> T fmodOf(T a, T b) { return T(std::fmod(wide(a), wide(b))); }
template <class T> T dimOf(T a, T b) {
  Wide<T> x = wide(a), y = wide(b);
  return T(x != x ? x : y != y ? y : x > y ? x - y : Wide<T>(0));
}
template <class T> T nextAfterOf(T a, T b) {
  Wide<T> x = wide(a), y = wide(b);
  if (x != x || y != y)
    return quietNan<T>();
  if (x == y)
    return b;
  BitsOf<T> bits = bitsOf(a);
  if (x == 0)
    return fromBits<T>(static_cast<BitsOf<T>>((y < 0 ? signOf<T> : 0) | 1));
  return fromBits<T>(static_cast<BitsOf<T>>((y > x) == (x > 0) ? bits + 1 : bits - 1));
}

// --- Elementary functions as vector code ---------------------------------------------------------------------------

#define TILEJIT_VECTOR(NAME)                                                                                           \
  template <class T> T NAME##Of(T a) {                                                                                 \
    if constexpr (std::is_same_v<T, double>)                                                                           \
      return std::NAME(a);                                                                                             \
    else                                                                                                               \
      return T(lane::NAME(wide(a)));                                                                                   \
  }
TILEJIT_VECTOR(exp)
TILEJIT_VECTOR(exp2)
TILEJIT_VECTOR(log)
TILEJIT_VECTOR(log2)
TILEJIT_VECTOR(log10)
TILEJIT_VECTOR(tanh)
TILEJIT_VECTOR(erf)
#undef TILEJIT_VECTOR
template <class T> T exp10Of(T a) {
  if constexpr (std::is_same_v<T, double>)
    return ::exp10(a);
  else
    return T(lane::exp10(wide(a)));
}

/// d = F(a), F(a, b): functions that some arguments are too hard for.
template <unsigned W, class F, class T, unsigned N> void withFallback(Warp &warp, const Op &op) {
  const T *from[] = {warp.reg<T>(op.a), warp.reg<T>(op.b)};
  T *to = warp.reg<T>(op.d);
  alignas(64) float source[N][W], result[W];
  for (unsigned i = 0; i < N; ++i)
    for (unsigned l = 0; l < W; ++l)
      source[i][l] = wide(from[i][l]);
  if constexpr (N == 1)
    lane::mapWithFallback<W, F>(warp.mask, result, source[0]);
  else
    lane::mapWithFallback<W, F>(warp.mask, result, source[0], source[1]);
  map<W>(warp.mask, to, [=, &result](unsigned l) { return T(result[l]); });
}
template <class F, class T, unsigned N>
constexpr HandlerPair fallbackLanes{withFallback<32, F, T, N>, withFallback<64, F, T, N>};
template <class F, unsigned N, auto Double> constexpr MathFunction fallback(std::string_view name) {
  return {name, N, fallbackLanes<F, F16, N>, fallbackLanes<F, BF16, N>, fallbackLanes<F, float, N>, lanesOf<Double>};
}
double sinDouble(double a) { return std::sin(a); }
double cosDouble(double a) { return std::cos(a); }
double tanDouble(double a) { return std::tan(a); }
double powDouble(double a, double b) { return std::pow(a, b); }

// --- The rest, by libm in double -----------------------------------------------------------------------------------

constexpr double pi = 3.14159265358979323846;

/// sin(pi x) and cos(pi x) without the error of a large product.
double sinPi(double x) {
  double r = std::remainder(x, 2.0);
  return r == std::rint(r) ? std::copysign(0.0, x) : std::sin(pi * r);
}
double cosPi(double x) {
  double r = std::fabs(std::remainder(x, 2.0));
  return r == 0.5 ? 0.0 : std::cos(pi * r);
}
double tanPi(double x) { return sinPi(x) / cosPi(x); }
double normalCdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }
/// exp(x^2) erfc(x); by the continued fraction where erfc would underflow.
double scaledErfc(double x) {
  if (x < 10)
    return std::exp(x * x) * std::erfc(x);
  double value = 0;
  for (int k = 60; k > 0; --k)
    value = 0.5 * k / (x + value);
  return 0.56418958354775628695 / (x + value);
}
double inverseErf(double y) {
  if (!(std::fabs(y) < 1))
    return std::fabs(y) == 1 ? std::copysign(HUGE_VAL, y) : std::nan("");
  // S. Winitzki's estimate (2008), then Newton's steps.
  double t = std::log1p(-y * y), a = 2 / (pi * 0.147) + t / 2;
  double x = std::copysign(std::sqrt(std::sqrt(a * a - t / 0.147) - a), y);
  for (int step = 0; step < 4; ++step)
    x -= (y > 0.5    ? -(std::erfc(x) - (1 - y))
          : y < -0.5 ? std::erfc(-x) - (1 + y)
                     : std::erf(x) - y) /
         (1.12837916709551257390 * std::exp(-x * x));
  return x;
}
double inverseErfc(double y) {
  if (!(y > 0 && y < 2))
    return y == 0 ? HUGE_VAL : y == 2 ? -HUGE_VAL : std::nan("");
  if (y > 0.0625)
    return inverseErf(1 - y);
  // Newton's steps on the logarithm, which is almost a parabola in the tail.
  double x = std::sqrt(-std::log(y * std::sqrt(pi)));
  for (int step = 0; step < 8; ++step) {
    double f = std::erfc(x);
    x += (std::log(f) - std::log(y)) * f / (1.12837916709551257390 * std::exp(-x * x));
  }
  return x;
}
double inverseNormalCdf(double y) { return -1.41421356237309504880 * inverseErfc(2 * y); }
double besselI0(double x) {
  double term = 1, sum = 1, q = x * x / 4;
  if (std::fabs(x) > 700)
    return HUGE_VAL;
  for (int k = 1; k < 2000 && term > sum * 1e-18; ++k)
    sum += term *= q / (double(k) * k);
  return sum;
}
double besselI1(double x) {
  double term = 0.5, sum = 0.5, q = x * x / 4;
  if (std::fabs(x) > 700)
    return std::copysign(HUGE_VAL, x);
  for (int k = 1; k < 2000 && term > sum * 1e-18; ++k)
    sum += term *= q / (double(k) * (k + 1));
  return x * sum;
}
double logGamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

#define TILEJIT_LIBM(NAME, EXPRESSION)                                                                                 \
  template <class T> T NAME##Of(T value) {                                                                             \
    double x = static_cast<double>(wide(value));                                                                       \
    return T(static_cast<Wide<T>>(EXPRESSION));                                                                        \
  }
#define TILEJIT_LIBM2(NAME, EXPRESSION)                                                                                \
  template <class T> T NAME##Of(T first, T second) {                                                                   \
    double x = static_cast<double>(wide(first)), y = static_cast<double>(wide(second));                                \
    return T(static_cast<Wide<T>>(EXPRESSION));                                                                        \
  }
TILEJIT_LIBM(sinh, std::sinh(x))
TILEJIT_LIBM(cosh, std::cosh(x))
TILEJIT_LIBM(asin, std::asin(x))
TILEJIT_LIBM(acos, std::acos(x))
TILEJIT_LIBM(atan, std::atan(x))
TILEJIT_LIBM(asinh, std::asinh(x))
TILEJIT_LIBM(acosh, std::acosh(x))
TILEJIT_LIBM(atanh, std::atanh(x))
TILEJIT_LIBM(expm1, std::expm1(x))
TILEJIT_LIBM(log1p, std::log1p(x))
TILEJIT_LIBM(logb, std::logb(x))
TILEJIT_LIBM(cbrt, std::cbrt(x))
TILEJIT_LIBM(rcbrt, 1.0 / std::cbrt(x))
TILEJIT_LIBM(erfc, std::erfc(x))
TILEJIT_LIBM(erfcx, scaledErfc(x))
TILEJIT_LIBM(erfinv, inverseErf(x))
TILEJIT_LIBM(erfcinv, inverseErfc(x))
TILEJIT_LIBM(normcdf, normalCdf(x))
TILEJIT_LIBM(normcdfinv, inverseNormalCdf(x))
TILEJIT_LIBM(lgamma, logGamma(x))
TILEJIT_LIBM(tgamma, std::tgamma(x))
TILEJIT_LIBM(sinpi, sinPi(x))
TILEJIT_LIBM(cospi, cosPi(x))
TILEJIT_LIBM(tanpi, tanPi(x))
TILEJIT_LIBM(j0, ::j0(x))
TILEJIT_LIBM(j1, ::j1(x))
TILEJIT_LIBM(y0, ::y0(x))
TILEJIT_LIBM(y1, ::y1(x))
TILEJIT_LIBM(i0, besselI0(x))
TILEJIT_LIBM(i1, besselI1(x))
TILEJIT_LIBM2(atan2, std::atan2(x, y))
TILEJIT_LIBM2(hypot, std::hypot(x, y))
TILEJIT_LIBM2(rhypot, 1.0 / std::hypot(x, y))
TILEJIT_LIBM2(remainder, std::remainder(x, y))
#undef TILEJIT_LIBM
#undef TILEJIT_LIBM2

#define TILEJIT_ROW(NAME, OPERANDS, FUNCTION)                                                                          \
  MathFunction {                                                                                                       \
    NAME, OPERANDS, lanesOf<FUNCTION<F16>>, lanesOf<FUNCTION<BF16>>, lanesOf<FUNCTION<float>>,                         \
        lanesOf<FUNCTION<double>>                                                                                      \
  }

const MathFunction rows[] = {
    TILEJIT_ROW("acos", 1, acosOf),
    TILEJIT_ROW("acosh", 1, acoshOf),
    TILEJIT_ROW("add", 2, addOf),
    TILEJIT_ROW("asin", 1, asinOf),
    TILEJIT_ROW("asinh", 1, asinhOf),
    TILEJIT_ROW("atan", 1, atanOf),
    TILEJIT_ROW("atan2", 2, atan2Of),
    TILEJIT_ROW("atanh", 1, atanhOf),
    TILEJIT_ROW("canonicalize", 1, canonical),
    TILEJIT_ROW("cbrt", 1, cbrtOf),
    TILEJIT_ROW("ceil", 1, ceilOf),
    TILEJIT_ROW("copysign", 2, copySign),
    fallback<lane::Cosine, 1, cosDouble>("cos"),
    TILEJIT_ROW("cosh", 1, coshOf),
    TILEJIT_ROW("cospi", 1, cospiOf),
    TILEJIT_ROW("div", 2, divOf),
    TILEJIT_ROW("erf", 1, erfOf),
    TILEJIT_ROW("erfc", 1, erfcOf),
    TILEJIT_ROW("erfcinv", 1, erfcinvOf),
    TILEJIT_ROW("erfcx", 1, erfcxOf),
    TILEJIT_ROW("erfinv", 1, erfinvOf),
    TILEJIT_ROW("exp", 1, expOf),
    TILEJIT_ROW("exp10", 1, exp10Of),
    TILEJIT_ROW("exp2", 1, exp2Of),
    TILEJIT_ROW("expm1", 1, expm1Of),
    TILEJIT_ROW("fabs", 1, absolute),
    TILEJIT_ROW("fdim", 2, dimOf),
    TILEJIT_ROW("floor", 1, floorOf),
    TILEJIT_ROW("fma", 3, fused),
    TILEJIT_ROW("fmod", 2, fmodOf),
    TILEJIT_ROW("fmuladd", 3, fused),
    TILEJIT_ROW("fract", 1, fractOf),
    TILEJIT_ROW("hypot", 2, hypotOf),
    TILEJIT_ROW("i0", 1, i0Of),
    TILEJIT_ROW("i1", 1, i1Of),
    TILEJIT_ROW("j0", 1, j0Of),
    TILEJIT_ROW("j1", 1, j1Of),
    TILEJIT_ROW("lgamma", 1, lgammaOf),
    TILEJIT_ROW("log", 1, logOf),
    TILEJIT_ROW("log10", 1, log10Of),
    TILEJIT_ROW("log1p", 1, log1pOf),
    TILEJIT_ROW("log2", 1, log2Of),
    TILEJIT_ROW("logb", 1, logbOf),
    TILEJIT_ROW("maximum", 2, maximumOrNan),
    TILEJIT_ROW("maximumnum", 2, maximumNumber),
    TILEJIT_ROW("maxnum", 2, maximumNumber),
    TILEJIT_ROW("minimum", 2, minimumOrNan),
    TILEJIT_ROW("minimumnum", 2, minimumNumber),
    TILEJIT_ROW("minnum", 2, minimumNumber),
    TILEJIT_ROW("mul", 2, mulOf),
    TILEJIT_ROW("nearbyint", 1, rintOf),
    TILEJIT_ROW("neg", 1, negated),
    TILEJIT_ROW("nextafter", 2, nextAfterOf),
    TILEJIT_ROW("normcdf", 1, normcdfOf),
    TILEJIT_ROW("normcdfinv", 1, normcdfinvOf),
    fallback<lane::Power, 2, powDouble>("pow"),
    TILEJIT_ROW("rcbrt", 1, rcbrtOf),
    TILEJIT_ROW("rcp", 1, reciprocalOf),
    TILEJIT_ROW("remainder", 2, remainderOf),
    TILEJIT_ROW("rhypot", 2, rhypotOf),
    TILEJIT_ROW("rint", 1, rintOf),
    TILEJIT_ROW("round", 1, roundOf),
    TILEJIT_ROW("roundeven", 1, rintOf),
    TILEJIT_ROW("rsqrt", 1, rsqrtOf),
    TILEJIT_ROW("saturate", 1, saturated),
    fallback<lane::Sine, 1, sinDouble>("sin"),
    TILEJIT_ROW("sinh", 1, sinhOf),
    TILEJIT_ROW("sinpi", 1, sinpiOf),
    TILEJIT_ROW("sqrt", 1, sqrtOf),
    TILEJIT_ROW("sub", 2, subOf),
    fallback<lane::Tangent, 1, tanDouble>("tan"),
    TILEJIT_ROW("tanh", 1, tanhOf),
    TILEJIT_ROW("tanpi", 1, tanpiOf),
    TILEJIT_ROW("tgamma", 1, tgammaOf),
    TILEJIT_ROW("trunc", 1, truncOf),
    TILEJIT_ROW("y0", 1, y0Of),
    TILEJIT_ROW("y1", 1, y1Of),
};
#undef TILEJIT_ROW

} // namespace

const MathFunction *findMath(std::string_view name) {
  auto found = std::lower_bound(std::begin(rows), std::end(rows), name,
                                [](const MathFunction &row, std::string_view n) { return row.name < n; });
  return found != std::end(rows) && found->name == name ? found : nullptr;
}

} // namespace tilejit::sim
