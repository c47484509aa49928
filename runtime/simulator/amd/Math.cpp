// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Floating-point instructions of AMD chips. Approximations (rcp, exp, log, sin …) give the nearest result.

#include "amd/Elementwise.h"
#include "core/Block.h"
#include "core/NarrowFloat.h"
#include "core/VectorMath.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tilejit::sim {

namespace {

constexpr double pi = 3.14159265358979323846;

/// Functions of a float with instances for all widths: computed in double, rounded once.
template <class T> T fromDouble(double value) { return T(floatToOdd(value)); }
template <> float fromDouble<float>(double value) { return static_cast<float>(value); }
template <> double fromDouble<double>(double value) { return value; }
template <class T> double toDouble(T value) { return static_cast<double>(static_cast<float>(value)); }
template <> double toDouble<double>(double value) { return value; }

template <class T> T reciprocal(T x) { return fromDouble<T>(1.0 / toDouble(x)); }
template <class T> T squareRoot(T x) { return fromDouble<T>(std::sqrt(toDouble(x))); }
template <class T> T reciprocalRoot(T x) { return fromDouble<T>(1.0 / std::sqrt(toDouble(x))); }
template <class T> T powerOfTwo(T x) { return fromDouble<T>(std::exp2(toDouble(x))); }
template <class T> T logarithm(T x) { return fromDouble<T>(std::log2(toDouble(x))); }
float powerOfTwoFast(float x) { return lane::exp2(x); }
float logarithmFast(float x) { return lane::log2(x); }
/// The argument is in turns.
template <class T> T sine(T x) {
  double turn = toDouble(x);
  return fromDouble<T>(std::sin(2 * pi * (turn - std::rint(turn))));
}
template <class T> T cosine(T x) {
  double turn = toDouble(x);
  return fromDouble<T>(std::cos(2 * pi * (turn - std::rint(turn))));
}

template <class T> T fraction(T x) {
  double value = toDouble(x), rest = value - std::floor(value);
  if (std::isinf(value))
    return fromDouble<T>(std::numeric_limits<double>::quiet_NaN());
  T result = fromDouble<T>(rest);
  // The result is below 1 even where it would round to it.
  constexpr int bits = sizeof(T) == 8 ? 53 : sizeof(T) == 4 ? 24 : 11;
  return toDouble(result) >= 1 ? fromDouble<T>(1 - std::ldexp(1.0, -bits)) : result;
}

template <class T> T mantissa(T x) {
  double value = toDouble(x);
  int exponent;
  return std::isfinite(value) ? fromDouble<T>(std::frexp(value, &exponent)) : x;
}
template <class T, class R> R exponent(T x) {
  double value = toDouble(x);
  int result = 0;
  if (std::isfinite(value))
    std::frexp(value, &result);
  return static_cast<R>(result);
}

/// The middle of three; with a NaN the least of the others.
template <class T> T median(T a, T b, T c) {
  double x = toDouble(a), y = toDouble(b), z = toDouble(c);
  if (std::isnan(x) || std::isnan(y) || std::isnan(z))
    return fromDouble<T>(std::fmin(std::fmin(x, y), z));
  return fromDouble<T>(std::fmax(std::fmin(x, y), std::fmin(std::fmax(x, y), z)));
}

/// Bits of `wanted`: signalling and quiet NaN, then -infinity, -normal, -subnormal, -0 and the same upwards.
template <class T, class U, int MantissaBits> uint8_t classOf(T x, uint32_t wanted) {
  U bits = std::bit_cast<U>(x);
  constexpr int width = 8 * sizeof(U);
  U mantissaMask = (U(1) << MantissaBits) - 1, exponentMask = (U(1) << (width - 1 - MantissaBits)) - 1;
  U exponentBits = static_cast<U>(bits >> MantissaBits) & exponentMask, mantissaBits = bits & mantissaMask;
  bool negative = bits >> (width - 1) & 1;
  unsigned which;
  if (exponentBits == exponentMask && mantissaBits)
    return wanted >> (mantissaBits >> (MantissaBits - 1) & 1) & 1;
  if (exponentBits == exponentMask)
    which = 0;
  else if (exponentBits)
    which = 1;
  else
    which = mantissaBits ? 2 : 3;
  return wanted >> (negative ? 2 + which : 9 - which) & 1;
}

/// 0 times anything is 0.
float legacyMultiply(float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }
float legacyMultiplyAdd(float a, float b, float c) { return a == 0 || b == 0 ? 0.0f + c : std::fma(a, b, c); }
float legacyReciprocal(float x) { return x == 0 ? std::copysign(std::numeric_limits<float>::max(), x) : 1 / x; }
float legacyReciprocalRoot(float x) {
  return x == 0 ? std::copysign(std::numeric_limits<float>::max(), x) : reciprocalRoot(x);
}
template <class T> T clampedReciprocalRoot(T x) {
  double value = 1 / std::sqrt(toDouble(x)), most = toDouble(std::numeric_limits<T>::max());
  return std::isnan(value) ? fromDouble<T>(value) : fromDouble<T>(std::fmin(std::fmax(value, -most), most));
}
float clampedLogarithm(float x) { return x == 0 ? -std::numeric_limits<float>::max() : logarithm(x); }
float multiplyAddFlush(float a, float b, float c) {
  auto flush = [](float v) { return std::fabs(v) < std::numeric_limits<float>::min() ? std::copysign(0.0f, v) : v; };
  return flush(flush(flush(a) * flush(b)) + flush(c));
}
F16 multiplyAddFlushHalf(F16 a, F16 b, F16 c) {
  return F16(static_cast<float>(F16(static_cast<float>(a) * static_cast<float>(b))) + static_cast<float>(c));
}

// --- Faces of a cube ------------------------------------------------------------------------------------------------

int majorAxis(float x, float y, float z) {
  if (std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y))
    return 2;
  return std::fabs(y) >= std::fabs(x) ? 1 : 0;
}
float cubeFace(float x, float y, float z) {
  int axis = majorAxis(x, y, z);
  float along = axis == 2 ? z : axis == 1 ? y : x;
  return static_cast<float>(2 * axis + (along < 0));
}
float cubeAxis(float x, float y, float z) {
  int axis = majorAxis(x, y, z);
  return 2 * (axis == 2 ? z : axis == 1 ? y : x);
}
float cubeS(float x, float y, float z) {
  switch (majorAxis(x, y, z)) {
  case 2:
    return z < 0 ? -x : x;
  case 1:
    return x;
  default:
    return x < 0 ? z : -z;
  }
}
float cubeT(float x, float y, float z) { return majorAxis(x, y, z) != 1 ? -y : y < 0 ? -z : z; }

// --- Division in steps ----------------------------------------------------------------------------------------------

template <class T> struct DivisionSteps;
template <> struct DivisionSteps<float> {
  static constexpr int scale = 64, far = 96, tiny = 23, bias = 127, top = 255, underflow = -150;
};
template <> struct DivisionSteps<double> {
  static constexpr int scale = 128, far = 768, tiny = 53, bias = 1023, top = 2047, underflow = -1075;
};

/// The exponent field.
int exponentField(float x) { return static_cast<int>(std::bit_cast<uint32_t>(x) >> 23 & 255); }
int exponentField(double x) { return static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 2047); }

template <class T> bool isSubnormal(T x) { return x != 0 && std::fabs(x) < std::numeric_limits<T>::min(); }

/// x->out = {scaled operand, whether div.fmas must undo it} of numerator and denominator in; imm: the numerator is
/// meant.
template <unsigned W, class T> void divisionScale(Warp &warp, const Op &op) {
  using Steps = DivisionSteps<T>;
  const OpOperands &x = *op.x;
  const T *numerators = warp.reg<T>(x.in[0]), *denominators = warp.reg<T>(x.in[1]);
  alignas(64) T scaled[W];
  alignas(64) uint8_t flag[W] = {};
  for (unsigned l = 0; l < W; ++l) {
    T n = numerators[l], d = denominators[l], value = op.imm ? n : d;
    bool isDenominator = !op.imm;
    scaled[l] = value;
    if (n == 0 || d == 0) {
      scaled[l] = std::numeric_limits<T>::quiet_NaN();
    } else if (exponentField(n) - exponentField(d) >= Steps::far) {
      flag[l] = 1;
      if (isDenominator)
        scaled[l] = std::ldexp(value, Steps::scale);
    } else if (isSubnormal(d)) {
      scaled[l] = std::ldexp(value, Steps::scale);
    } else if (isSubnormal(T(1) / d) && isSubnormal(n / d)) {
      flag[l] = 1;
      if (isDenominator)
        scaled[l] = std::ldexp(value, -Steps::scale);
    } else if (isSubnormal(T(1) / d)) {
      scaled[l] = std::ldexp(value, -Steps::scale);
    } else if (isSubnormal(n / d)) {
      flag[l] = 1;
      if (!isDenominator)
        scaled[l] = std::ldexp(value, Steps::scale);
    } else if (exponentField(n) <= Steps::tiny) {
      scaled[l] = std::ldexp(value, Steps::scale);
    }
  }
  blend<W>(warp.reg<T>(x.out[0]), scaled, warp.mask);
  blend<W>(warp.reg<uint8_t>(x.out[1]), flag, warp.mask);
}

/// x->out = a * b + c of in, scaled back where the flag in[3] holds.
template <unsigned W, class T> void divisionMultiplyAdd(Warp &warp, const Op &op) {
  using Steps = DivisionSteps<T>;
  const OpOperands &x = *op.x;
  const T *a = warp.reg<T>(x.in[0]), *b = warp.reg<T>(x.in[1]), *c = warp.reg<T>(x.in[2]);
  const uint8_t *flag = warp.reg<uint8_t>(x.in[3]);
  map<W>(warp.mask, warp.reg<T>(x.out[0]), [&](unsigned l) {
    T value = std::fma(a[l], b[l], c[l]);
    return flag[l] ? std::ldexp(value, exponentField(c[l]) > Steps::bias ? Steps::scale : -Steps::scale) : value;
  });
}

/// The quotient with special cases put right: (quotient, denominator, numerator).
template <class T> T divisionFixup(T quotient, T d, T n) {
  using Steps = DivisionSteps<T>;
  T sign = std::signbit(d) != std::signbit(n) ? T(-1) : T(1);
  if (std::isnan(n))
    return n + n;
  if (std::isnan(d))
    return d + d;
  if ((d == 0 && n == 0) || (std::isinf(d) && std::isinf(n)))
    return -std::numeric_limits<T>::quiet_NaN();
  if (d == 0 || std::isinf(n))
    return std::copysign(std::numeric_limits<T>::infinity(), sign);
  if (std::isinf(d) || n == 0)
    return std::copysign(T(0), sign);
  if (exponentField(n) - exponentField(d) < Steps::underflow)
    return std::copysign(T(0), sign);
  // The steps end in infinity minus infinity where the quotient is too large.
  if (std::isnan(quotient))
    return std::copysign(std::numeric_limits<T>::infinity(), sign);
  return std::copysign(quotient, sign);
}
F16 divisionFixupHalf(F16 quotient, F16 d, F16 n) {
  return F16(divisionFixup(static_cast<float>(quotient), static_cast<float>(d), static_cast<float>(n)));
}

/// Handlers by the kind of the result's first scalar.
void divisionScaleRule(Call &call) {
  Decoder &d = call.decoder;
  Regs out = call.results(), in{call.reg(0), call.reg(1)};
  bool wide = call.kind(0) == Kind::F64;
  d.emitWide(wide ? d.pick(divisionScale<32, double>, divisionScale<64, double>)
                  : d.pick(divisionScale<32, float>, divisionScale<64, float>),
             out, in, call.constant(2));
}
void divisionMultiplyAddRule(Call &call) {
  bool wide = call.kind(0) == Kind::F64;
  emitCall(call, wide ? divisionMultiplyAdd<32, double> : divisionMultiplyAdd<32, float>,
           wide ? divisionMultiplyAdd<64, double> : divisionMultiplyAdd<64, float>);
}

#define TILEJIT_FLOATS(name, f)                                                                                        \
  {name, Kind::F16, lanesOf<f<F16>>}, {name, Kind::F32, lanesOf<f<float>>}, { name, Kind::F64, lanesOf<f<double>> }

constexpr LaneRow rows[] = {
    TILEJIT_FLOATS("rcp", reciprocal),
    TILEJIT_FLOATS("sqrt", squareRoot),
    TILEJIT_FLOATS("rsq", reciprocalRoot),
    TILEJIT_FLOATS("fract", fraction),
    TILEJIT_FLOATS("frexp.mant", mantissa),
    TILEJIT_FLOATS("fmed3", median),
    {"rsq.clamp", Kind::F32, lanesOf<clampedReciprocalRoot<float>>},
    {"rsq.clamp", Kind::F64, lanesOf<clampedReciprocalRoot<double>>},
    {"exp2", Kind::F16, lanesOf<powerOfTwo<F16>>},
    {"exp2", Kind::F32, lanesOf<powerOfTwoFast>},
    {"log", Kind::F16, lanesOf<logarithm<F16>>},
    {"log", Kind::F32, lanesOf<logarithmFast>},
    {"log.clamp", Kind::F32, lanesOf<clampedLogarithm>},
    {"sin", Kind::F16, lanesOf<sine<F16>>},
    {"sin", Kind::F32, lanesOf<sine<float>>},
    {"cos", Kind::F16, lanesOf<cosine<F16>>},
    {"cos", Kind::F32, lanesOf<cosine<float>>},
    {"class", Kind::F16, lanesOf<classOf<F16, uint16_t, 10>>},
    {"class", Kind::F32, lanesOf<classOf<float, uint32_t, 23>>},
    {"class", Kind::F64, lanesOf<classOf<double, uint64_t, 52>>},
    {"fmul.legacy", Kind::F32, lanesOf<legacyMultiply>},
    {"fma.legacy", Kind::F32, lanesOf<legacyMultiplyAdd>},
    {"rcp.legacy", Kind::F32, lanesOf<legacyReciprocal>},
    {"rsq.legacy", Kind::F32, lanesOf<legacyReciprocalRoot>},
    {"fmad.ftz", Kind::F32, lanesOf<multiplyAddFlush>},
    {"fmad.ftz", Kind::F16, lanesOf<multiplyAddFlushHalf>},
    {"cubeid", Kind::F32, lanesOf<cubeFace>},
    {"cubema", Kind::F32, lanesOf<cubeAxis>},
    {"cubesc", Kind::F32, lanesOf<cubeS>},
    {"cubetc", Kind::F32, lanesOf<cubeT>},
    {"div.fixup", Kind::F16, lanesOf<divisionFixupHalf>},
    {"div.fixup", Kind::F32, lanesOf<divisionFixup<float>>},
    {"div.fixup", Kind::F64, lanesOf<divisionFixup<double>>},
};
#undef TILEJIT_FLOATS

/// The result's type is overloaded too.
constexpr LaneRow exponents16[] = {{"frexp.exp", Kind::F16, lanesOf<exponent<F16, uint16_t>>},
                                   {"frexp.exp", Kind::F32, lanesOf<exponent<float, uint16_t>>},
                                   {"frexp.exp", Kind::F64, lanesOf<exponent<double, uint16_t>>}};
constexpr LaneRow exponents32[] = {{"frexp.exp", Kind::F16, lanesOf<exponent<F16, uint32_t>>},
                                   {"frexp.exp", Kind::F32, lanesOf<exponent<float, uint32_t>>},
                                   {"frexp.exp", Kind::F64, lanesOf<exponent<double, uint32_t>>}};

void exponentRule(Call &call) {
  if (call.call.getType()->getScalarSizeInBits() == 16)
    emitLaneRow(call, exponents16);
  else
    emitLaneRow(call, exponents32);
}

} // namespace

void addAmdMathRules(Rules &rules) {
  for (const LaneRow &row : rows) {
    std::string name = std::string("llvm.amdgcn.") + row.name;
    auto rule = [](Call &call) { emitLaneRow(call, rows); };
    rules.call(name, rule);
    rules.callPrefix(name + ".", rule);
  }
  rules.callPrefix("llvm.amdgcn.frexp.exp.", exponentRule);
  rules.callPrefix("llvm.amdgcn.div.scale.", divisionScaleRule);
  rules.callPrefix("llvm.amdgcn.div.fmas.", divisionMultiplyAddRule);
}

} // namespace tilejit::sim
