// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lane code of PTX's floating-point operations. f32 in a directed rounding mode is computed in double, rounded to odd,
// and rounded once more; f64 compares the nearest result with the exact one in quadruple precision. No rounding mode of
// the host is touched.

#include "nvidia/FloatOperations.h"

#include "core/MathLanes.h"
#include "core/MathTable.h"
#include "core/VectorMath.h"

#include <cmath>
#include <limits>

namespace tilejit::sim {

namespace {

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Quad;
#else
using Quad = long double; // 113 bits where the type above is missing.
#endif

/// `nearest` moved to the neighbour that the mode wants; `error`: the sign of the exact result minus `nearest`.
double direct(double nearest, int error, Rounding rounding) {
  if (error == 0 || std::isnan(nearest))
    return nearest;
  bool up = rounding == Rounding::Up || (rounding == Rounding::Zero && nearest < 0);
  bool down = rounding == Rounding::Down || (rounding == Rounding::Zero && nearest > 0);
  if (up && error > 0)
    return std::nextafter(nearest, HUGE_VAL);
  return down && error < 0 ? std::nextafter(nearest, -HUGE_VAL) : nearest;
}

template <class F> int signOfValue(F x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/// x + y + tiny, where y is smaller than the last place of x: as a double.
double fromQuad(Quad x, Quad rest, Rounding rounding) {
  auto nearest = static_cast<double>(x);
  if (std::isinf(nearest)) // Beyond all doubles: the exact value lies on the finite side.
    return direct(nearest, nearest > 0 ? -1 : 1, rounding);
  Quad difference = x - static_cast<Quad>(nearest);
  int error = difference != 0 ? signOfValue(difference) : signOfValue(rest);
  return direct(nearest, error, rounding);
}

/// An exact zero of operands with different signs is negative only when rounding down.
double zeroOfSum(bool signsDiffer, double sameSign, Rounding rounding) {
  return !signsDiffer ? sameSign : rounding == Rounding::Down ? -0.0 : 0.0;
}

double sumRounded(Quad a, Quad b, bool signsDiffer, Rounding rounding) {
  Quad sum = a + b, back = sum - a, rest = (a - (sum - back)) + (b - back);
  return sum == 0 ? zeroOfSum(signsDiffer, static_cast<double>(a), rounding) : fromQuad(sum, rest, rounding);
}

enum class Operation : uint8_t { Add, Sub, Mul, Div };

template <Operation O> double nearest(double a, double b) {
  if constexpr (O == Operation::Add)
    return a + b;
  else if constexpr (O == Operation::Sub)
    return a - b;
  else if constexpr (O == Operation::Mul)
    return a * b;
  else
    return a / b;
}

template <Operation O> double rounded(double a, double b, Rounding rounding) {
  double result = nearest<O>(a, b);
  if (rounding == Rounding::Nearest || !std::isfinite(a) || !std::isfinite(b))
    return result;
  if constexpr (O == Operation::Add)
    return addRounded(a, b, rounding);
  if constexpr (O == Operation::Sub)
    return addRounded(a, -b, rounding);
  if constexpr (O == Operation::Mul) {
    if (a == 0 || b == 0)
      return result;
    Quad product = static_cast<Quad>(a) * static_cast<Quad>(b);
    double directed = fromQuad(product, 0, rounding);
    return directed == 0 ? std::copysign(0.0, result) : directed;
  } else {
    if (a == 0 || b == 0)
      return result;
    if (std::isinf(result))
      return direct(result, result > 0 ? -1 : 1, rounding);
    Quad left = static_cast<Quad>(a) - static_cast<Quad>(result) * static_cast<Quad>(b);
    return direct(result, signOfValue(left) * signOfValue(b), rounding);
  }
}

double squareRootRounded(double a, Rounding rounding) {
  double root = std::sqrt(a);
  if (rounding == Rounding::Nearest || !std::isfinite(root) || root == 0)
    return root;
  Quad left = static_cast<Quad>(a) - static_cast<Quad>(root) * static_cast<Quad>(root);
  return direct(root, signOfValue(left), rounding);
}

// --- f32 -----------------------------------------------------------------------------------------------------------

template <Operation O> float rounded(float a, float b, Rounding rounding) {
  double x = a, y = O == Operation::Sub ? -static_cast<double>(b) : b;
  if constexpr (O == Operation::Mul) {
    return roundToFloat(x * y, rounding);
  } else if constexpr (O == Operation::Div) {
    double quotient = x / y, left = std::fma(-quotient, y, x);
    bool exact = !std::isfinite(quotient) || !std::isfinite(y);
    return roundToFloat(exact ? quotient : toOdd(quotient, y > 0 ? left : -left), rounding);
  } else {
    double sum = addToOdd(x, y);
    if (sum == 0)
      return static_cast<float>(zeroOfSum(std::signbit(x) != std::signbit(y), sum, rounding));
    return roundToFloat(sum, rounding);
  }
}

float fusedDirected(float a, float b, float c, Rounding rounding) {
  double product = static_cast<double>(a) * b, sum = addToOdd(product, c);
  if (sum == 0)
    return static_cast<float>(zeroOfSum(std::signbit(product) != std::signbit(c), sum, rounding));
  return roundToFloat(sum, rounding);
}

float squareRootRounded(float a, Rounding rounding) {
  double x = a, root = std::sqrt(x);
  return roundToFloat(std::isfinite(root) ? toOdd(root, std::fma(-root, root, x)) : root, rounding);
}

// --- All kinds -----------------------------------------------------------------------------------------------------

template <class T> T flushIf(T a, const FloatFlags &flags) { return flags.flush ? flushedTo(a) : a; }
template <class T> T finish(T a, const FloatFlags &flags) {
  a = flushIf(a, flags);
  if (flags.saturate)
    a = saturated(a);
  if (flags.relu)
    a = wide(a) != wide(a) ? quietNan<T>() : wide(a) > 0 ? a : T(Wide<T>(0));
  return a;
}

template <Operation O, class T> T plain2(T a, T b) {
  Wide<T> x = wide(a), y = wide(b);
  if constexpr (O == Operation::Add)
    return T(x + y);
  else if constexpr (O == Operation::Sub)
    return T(x - y);
  else if constexpr (O == Operation::Mul)
    return T(x * y);
  else
    return T(x / y);
}
template <Operation O, class T> T flush2(T a, T b) { return flushedTo(plain2<O>(flushedTo(a), flushedTo(b))); }
template <Operation O, class T> T general2(T a, T b, Imm imm) {
  FloatFlags flags = FloatFlags::decode(imm.value);
  a = flushIf(a, flags), b = flushIf(b, flags);
  if constexpr (isNarrowFloat<T>)
    return finish(plain2<O>(a, b), flags);
  else
    return finish(flags.rounding == Rounding::Nearest ? plain2<O>(a, b) : rounded<O>(a, b, flags.rounding), flags);
}

template <class T> T flushFused(T a, T b, T c) { return flushedTo(fused(flushedTo(a), flushedTo(b), flushedTo(c))); }
template <class T> T generalFused(T a, T b, T c, Imm imm) {
  FloatFlags flags = FloatFlags::decode(imm.value);
  a = flushIf(a, flags), b = flushIf(b, flags), c = flushIf(c, flags);
  if (isNarrowFloat<T> || flags.rounding == Rounding::Nearest)
    return finish(fused(a, b, c), flags);
  if constexpr (std::is_same_v<T, float>)
    return finish(fusedDirected(a, b, c, flags.rounding), flags);
  else if constexpr (std::is_same_v<T, double>)
    return fusedRounded(a, b, c, flags.rounding);
  else
    return a;
}

template <bool Max, class T> T plainChoice(T a, T b) { return Max ? maximumNumber(a, b) : minimumNumber(a, b); }
template <bool Max, class T> T flushChoice(T a, T b) { return plainChoice<Max>(flushedTo(a), flushedTo(b)); }
template <bool Max, class T> T generalChoice(T a, T b, Imm imm) {
  FloatFlags flags = FloatFlags::decode(imm.value);
  a = flushIf(a, flags), b = flushIf(b, flags);
  auto sign = static_cast<BitsOf<T>>((bitsOf(a) ^ bitsOf(b)) & signOf<T>);
  if (flags.xorSign)
    a = absolute(a), b = absolute(b);
  T chosen = plainChoice<Max>(a, b);
  bool isNan = flags.nan ? wide(a) != wide(a) || wide(b) != wide(b) : wide(chosen) != wide(chosen);
  if (isNan)
    return quietNan<T>();
  return flags.xorSign ? fromBits<T>(static_cast<BitsOf<T>>(bitsOf(chosen) | sign)) : finish(chosen, flags);
}

/// Functions of one number, from a lane function without modifiers.
template <auto F, class T> T flush1(T a) { return flushedTo(F(flushedTo(a))); }
template <auto F, class T> T general1(T a, Imm imm) {
  FloatFlags flags = FloatFlags::decode(imm.value);
  return finish(F(flushIf(a, flags)), flags);
}

template <class T> T reciprocal(T a) { return T(Wide<T>(1) / wide(a)); }
template <class T> T generalReciprocal(T a, Imm imm) { return general2<Operation::Div>(T(Wide<T>(1)), a, imm); }
template <class T> T squareRoot(T a) { return T(std::sqrt(wide(a))); }
template <class T> T generalSquareRoot(T a, Imm imm) {
  FloatFlags flags = FloatFlags::decode(imm.value);
  a = flushIf(a, flags);
  if constexpr (isNarrowFloat<T>)
    return finish(squareRoot(a), flags);
  else
    return finish(squareRootRounded(a, flags.rounding), flags);
}
template <class T> T inverseRoot(T a) { return T(static_cast<Wide<T>>(1.0 / std::sqrt(static_cast<double>(wide(a))))); }

#define TILEJIT_FUNCTION(NAME, FAST, SLOW)                                                                             \
  template <class T> T NAME(T a) {                                                                                     \
    if constexpr (std::is_same_v<T, double>)                                                                           \
      return SLOW(a);                                                                                                  \
    else                                                                                                               \
      return T(FAST(wide(a)));                                                                                         \
  }
TILEJIT_FUNCTION(power2, lane::exp2, std::exp2)
TILEJIT_FUNCTION(logarithm2, lane::log2, std::log2)
TILEJIT_FUNCTION(hyperbolicTangent, lane::tanh, std::tanh)
#undef TILEJIT_FUNCTION
// Angles that are too large for the vector form are computed one by one; the branch is rarely taken.
template <class T> T sine(T a) {
  auto x = static_cast<float>(wide(a));
  return T(static_cast<Wide<T>>(lane::Sine::hard(x) ? lane::Sine::slow(x) : lane::Sine::fast(x)));
}
template <class T> T cosine(T a) {
  auto x = static_cast<float>(wide(a));
  return T(static_cast<Wide<T>>(lane::Cosine::hard(x) ? lane::Cosine::slow(x) : lane::Cosine::fast(x)));
}
template <class T> T floorOf(T a) { return T(std::floor(wide(a))); }
template <class T> T ceilOf(T a) { return T(std::ceil(wide(a))); }
template <class T> T truncOf(T a) { return T(std::trunc(wide(a))); }
template <class T> T rintOf(T a) { return T(std::rint(wide(a))); }
template <class T> T roundOf(T a) { return T(roundAway(wide(a))); }

/// An operation on both halves of 32 bits.
template <class T> T half(uint32_t pair, unsigned which) {
  return fromBits<T>(static_cast<uint16_t>(pair >> 16 * which));
}
template <class T> uint32_t pairOf(T low, T high) { return bitsOf(low) | uint32_t(bitsOf(high)) << 16; }
template <auto F, class T> uint32_t pair1(uint32_t a, Imm imm) {
  return pairOf(F(half<T>(a, 0), imm), F(half<T>(a, 1), imm));
}
template <auto F, class T> uint32_t pair2(uint32_t a, uint32_t b, Imm imm) {
  return pairOf(F(half<T>(a, 0), half<T>(b, 0), imm), F(half<T>(a, 1), half<T>(b, 1), imm));
}
template <auto F, class T> uint32_t pair3(uint32_t a, uint32_t b, uint32_t c, Imm imm) {
  return pairOf(F(half<T>(a, 0), half<T>(b, 0), half<T>(c, 0), imm),
                F(half<T>(a, 1), half<T>(b, 1), half<T>(c, 1), imm));
}

struct Variants {
  Handler plain, flush, general, pair;
};
struct Row {
  std::string_view name;
  unsigned operands;
  Variants f16, bf16, f32, f64;
};

#define TILEJIT_KIND(N, PLAIN, FLUSH, GENERAL, T)                                                                      \
  Variants { warpOf<PLAIN>, warpOf<FLUSH>, warpOf<GENERAL>, nullptr }
#define TILEJIT_NARROW(N, PLAIN, FLUSH, GENERAL, T)                                                                    \
  Variants { warpOf<PLAIN>, warpOf<FLUSH>, warpOf<GENERAL>, warpOf<pair##N<GENERAL, T>> }
#define TILEJIT_BINARY(NAME, O)                                                                                        \
  {NAME,                                                                                                               \
   2,                                                                                                                  \
   TILEJIT_NARROW(2, (plain2<O, F16>), (flush2<O, F16>), (general2<O, F16>), F16),                                     \
   TILEJIT_NARROW(2, (plain2<O, BF16>), (flush2<O, BF16>), (general2<O, BF16>), BF16),                                 \
   TILEJIT_KIND(2, (plain2<O, float>), (flush2<O, float>), (general2<O, float>), float),                               \
   TILEJIT_KIND(2, (plain2<O, double>), (plain2<O, double>), (general2<O, double>), double)}
#define TILEJIT_CHOICE(NAME, MAX)                                                                                      \
  {NAME,                                                                                                               \
   2,                                                                                                                  \
   TILEJIT_NARROW(2, (plainChoice<MAX, F16>), (flushChoice<MAX, F16>), (generalChoice<MAX, F16>), F16),                \
   TILEJIT_NARROW(2, (plainChoice<MAX, BF16>), (flushChoice<MAX, BF16>), (generalChoice<MAX, BF16>), BF16),            \
   TILEJIT_KIND(2, (plainChoice<MAX, float>), (flushChoice<MAX, float>), (generalChoice<MAX, float>), float),          \
   TILEJIT_KIND(2, (plainChoice<MAX, double>), (plainChoice<MAX, double>), (generalChoice<MAX, double>), double)}
#define TILEJIT_UNARY(NAME, F)                                                                                         \
  {NAME,                                                                                                               \
   1,                                                                                                                  \
   TILEJIT_NARROW(1, (F<F16>), (flush1<F<F16>, F16>), (general1<F<F16>, F16>), F16),                                   \
   TILEJIT_NARROW(1, (F<BF16>), (flush1<F<BF16>, BF16>), (general1<F<BF16>, BF16>), BF16),                             \
   TILEJIT_KIND(1, (F<float>), (flush1<F<float>, float>), (general1<F<float>, float>), float),                         \
   TILEJIT_KIND(1, (F<double>), (F<double>), (general1<F<double>, double>), double)}
#define TILEJIT_ROUNDED(NAME, F, GENERAL)                                                                              \
  {NAME,                                                                                                               \
   1,                                                                                                                  \
   TILEJIT_NARROW(1, (F<F16>), (flush1<F<F16>, F16>), (GENERAL<F16>), F16),                                            \
   TILEJIT_NARROW(1, (F<BF16>), (flush1<F<BF16>, BF16>), (GENERAL<BF16>), BF16),                                       \
   TILEJIT_KIND(1, (F<float>), (flush1<F<float>, float>), (GENERAL<float>), float),                                    \
   TILEJIT_KIND(1, (F<double>), (F<double>), (GENERAL<double>), double)}

const Row rows[] = {
    TILEJIT_BINARY("add", Operation::Add),
    TILEJIT_BINARY("sub", Operation::Sub),
    TILEJIT_BINARY("mul", Operation::Mul),
    TILEJIT_BINARY("div", Operation::Div),
    TILEJIT_CHOICE("min", false),
    TILEJIT_CHOICE("max", true),
    {"fma", 3, TILEJIT_NARROW(3, (fused<F16>), (flushFused<F16>), (generalFused<F16>), F16),
     TILEJIT_NARROW(3, (fused<BF16>), (flushFused<BF16>), (generalFused<BF16>), BF16),
     TILEJIT_KIND(3, (fused<float>), (flushFused<float>), (generalFused<float>), float),
     TILEJIT_KIND(3, (fused<double>), (fused<double>), (generalFused<double>), double)},
    TILEJIT_ROUNDED("rcp", reciprocal, generalReciprocal),
    TILEJIT_ROUNDED("sqrt", squareRoot, generalSquareRoot),
    TILEJIT_UNARY("rsqrt", inverseRoot),
    TILEJIT_UNARY("ex2", power2),
    TILEJIT_UNARY("lg2", logarithm2),
    TILEJIT_UNARY("tanh", hyperbolicTangent),
    TILEJIT_UNARY("sin", sine),
    TILEJIT_UNARY("cos", cosine),
    TILEJIT_UNARY("abs", absolute),
    TILEJIT_UNARY("neg", negated),
    TILEJIT_UNARY("floor", floorOf),
    TILEJIT_UNARY("ceil", ceilOf),
    TILEJIT_UNARY("trunc", truncOf),
    TILEJIT_UNARY("rint", rintOf),
    TILEJIT_UNARY("round", roundOf),
    TILEJIT_UNARY("saturate", saturated),
};
#undef TILEJIT_KIND
#undef TILEJIT_NARROW
#undef TILEJIT_BINARY
#undef TILEJIT_CHOICE
#undef TILEJIT_UNARY
#undef TILEJIT_ROUNDED

} // namespace

double addRounded(double a, double b, Rounding rounding) {
  if (rounding == Rounding::Nearest || !std::isfinite(a) || !std::isfinite(b))
    return a + b;
  return sumRounded(a, b, std::signbit(a) != std::signbit(b), rounding);
}

double fusedRounded(double a, double b, double c, Rounding rounding) {
  if (rounding == Rounding::Nearest || !std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c))
    return std::fma(a, b, c);
  bool negative = std::signbit(a) != std::signbit(b);
  return sumRounded(static_cast<Quad>(a) * static_cast<Quad>(b), c, negative != std::signbit(c), rounding);
}

FloatHandlers floatOperation(std::string_view name, Kind kind, bool pair, const FloatFlags &flags) {
  for (const Row &row : rows) {
    if (row.name != name)
      continue;
    const Variants *v = kind == Kind::F16    ? &row.f16
                        : kind == Kind::BF16 ? &row.bf16
                        : kind == Kind::F32  ? &row.f32
                        : kind == Kind::F64  ? &row.f64
                                             : nullptr;
    if (!v)
      return {};
    FloatFlags onlyFlush;
    onlyFlush.flush = true;
    Handler chosen = pair                                   ? v->pair
                     : flags.encode() == 0                  ? v->plain
                     : flags.encode() == onlyFlush.encode() ? v->flush
                                                            : v->general;
    return {chosen, row.operands};
  }
  return {};
}

} // namespace tilejit::sim
