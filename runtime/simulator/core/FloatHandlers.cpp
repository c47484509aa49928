// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Floating-point arithmetic and conversions of LLVM's own instructions. Half and bfloat are computed in float or double
// and rounded once: float holds the exact sum or product well enough that the second rounding changes nothing (S.
// Figueroa, "When is double rounding innocuous?", 1995); fused operations go through double with the sticky bit kept.

#include "core/Handlers.h"
#include "core/Lanes.h"
#include "core/Warp.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tilejit::sim {

namespace {

/// bfloat as stored.
struct Bf16 {
  uint16_t bits;
  operator float() const {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
};

inline Bf16 roundToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  bool isNan = (bits & 0x7fffffff) > 0x7f800000;
  return {static_cast<uint16_t>(isNan ? (bits >> 16) | 0x40 : rounded)};
}

/// To float so that rounding once more to a narrower format is right: ties and beyond are told apart (round to odd).
inline float roundToOdd(double value) {
  float near = static_cast<float>(value);
  if (static_cast<double>(near) == value || !std::isfinite(near))
    return near;
  uint32_t bits;
  std::memcpy(&bits, &near, 4);
  bool away = std::fabs(static_cast<double>(near)) > std::fabs(value);
  if (away)
    --bits;
  bits |= 1;
  std::memcpy(&near, &bits, 4);
  return near;
}

template <class T> constexpr bool isNarrow = std::is_same_v<T, _Float16> || std::is_same_v<T, Bf16>;

template <class T> inline T narrow(float value) {
  if constexpr (std::is_same_v<T, Bf16>)
    return roundToBf16(value);
  else
    return static_cast<T>(value);
}

template <FloatOp O, class T> inline T apply(T x, T y) {
  using C = std::conditional_t<isNarrow<T>, float, T>;
  C a = static_cast<C>(x), b = static_cast<C>(y), r;
  if constexpr (O == FloatOp::Add)
    r = a + b;
  else if constexpr (O == FloatOp::Sub)
    r = a - b;
  else if constexpr (O == FloatOp::Mul)
    r = a * b;
  else if constexpr (O == FloatOp::Div)
    r = a / b;
  else
    r = std::fmod(a, b);
  if constexpr (isNarrow<T>)
    return narrow<T>(r);
  else
    return r;
}

template <unsigned W, FloatOp O, class T> void binary(Warp &warp, const Op &op) {
  const T *a = warp.reg<T>(op.a), *b = warp.reg<T>(op.b);
  map<W>(warp.mask, warp.reg<T>(op.d), [=](unsigned l) { return apply<O, T>(a[l], b[l]); });
}

template <unsigned W, class B> void negate(Warp &warp, const Op &op) {
  const B *a = warp.reg<B>(op.a);
  constexpr B sign = static_cast<B>(B(1) << (sizeof(B) * 8 - 1));
  map<W>(warp.mask, warp.reg<B>(op.d), [=](unsigned l) { return static_cast<B>(a[l] ^ sign); });
}

template <unsigned W, class T> void fusedMultiplyAdd(Warp &warp, const Op &op) {
  const T *a = warp.reg<T>(op.a), *b = warp.reg<T>(op.b), *c = warp.reg<T>(op.c);
  map<W>(warp.mask, warp.reg<T>(op.d), [=](unsigned l) {
    if constexpr (isNarrow<T>) {
      // The product is exact in double; the sum is rounded to odd on its way down.
      double product = double(float(a[l])) * double(float(b[l])), addend = double(float(c[l]));
      double sum = product + addend, lost = (product - (sum - addend)) + (addend - (sum - (sum - addend)));
      float odd = roundToOdd(sum);
      if (lost != 0 && static_cast<double>(odd) == sum && std::isfinite(sum)) {
        uint32_t bits;
        std::memcpy(&bits, &odd, 4);
        bits = (lost > 0) == (sum > 0) ? bits | 1 : (bits - 1) | 1;
        std::memcpy(&odd, &bits, 4);
      }
      return narrow<T>(odd);
    } else if constexpr (sizeof(T) == 4) {
      return __builtin_fmaf(a[l], b[l], c[l]);
    } else {
      return __builtin_fma(a[l], b[l], c[l]);
    }
  });
}

template <unsigned W, unsigned P, class T> void test(Warp &warp, const Op &op) {
  const T *a = warp.reg<T>(op.a), *b = warp.reg<T>(op.b);
  map<W>(warp.mask, warp.reg<uint8_t>(op.d), [=](unsigned l) {
    using C = std::conditional_t<isNarrow<T>, float, T>;
    C x = static_cast<C>(a[l]), y = static_cast<C>(b[l]);
    // Bits of the LLVM predicate: equal, greater, less, unordered.
    return uint8_t(((P & 1) && x == y) || ((P & 2) && x > y) || ((P & 4) && x < y) || ((P & 8) && !(x == x && y == y)));
  });
}

template <class F> Handler forFloat(Kind kind, F f) {
  switch (kind) {
  case Kind::F16:
    return f(_Float16());
  case Kind::BF16:
    return f(Bf16());
  case Kind::F32:
    return f(float());
  case Kind::F64:
    return f(double());
  default:
    return nullptr;
  }
}

template <unsigned P> Handler testOf(Kind kind, unsigned width) {
  return forFloat(kind, [=](auto t) -> Handler {
    using T = decltype(t);
    return width == 64 ? &test<64, P, T> : &test<32, P, T>;
  });
}

template <FloatOp O> Handler binaryOf(Kind kind, unsigned width) {
  return forFloat(kind, [=](auto t) -> Handler {
    using T = decltype(t);
    return width == 64 ? &binary<64, O, T> : &binary<32, O, T>;
  });
}

// --- Conversions ---------------------------------------------------------------------------------------------------

template <class To, class From> inline To convertOne(From from) {
  constexpr bool fromFloat = isNarrow<From> || std::is_floating_point_v<From>;
  constexpr bool toFloat = isNarrow<To> || std::is_floating_point_v<To>;
  if constexpr (!fromFloat && !toFloat) {
    return static_cast<To>(from);
  } else if constexpr (!fromFloat) {
    if constexpr (isNarrow<To>)
      return narrow<To>(roundToOdd(static_cast<double>(from)));
    else
      return static_cast<To>(from);
  } else if constexpr (toFloat) {
    if constexpr (isNarrow<To> && std::is_same_v<From, double>)
      return narrow<To>(roundToOdd(from));
    else if constexpr (isNarrow<To>)
      return narrow<To>(static_cast<float>(from));
    else
      return static_cast<To>(from);
  } else {
    using C = std::conditional_t<std::is_same_v<From, double>, double, float>;
    C value = static_cast<C>(from);
    // 2 to the number of value bits: the first number that does not fit.
    constexpr C limit = static_cast<C>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    constexpr C low = static_cast<C>(std::numeric_limits<To>::min());
    if (!(value == value))
      return 0;
    return value >= limit ? std::numeric_limits<To>::max()
           : value <= low ? std::numeric_limits<To>::min()
                          : static_cast<To>(value);
  }
}

template <unsigned W, class To, class From> void convert(Warp &warp, const Op &op) {
  const From *a = warp.reg<From>(op.a);
  map<W>(warp.mask, warp.reg<To>(op.d), [=](unsigned l) { return convertOne<To, From>(a[l]); });
}

template <class F> Handler forAny(Kind kind, bool isSigned, F f) {
  switch (kind) {
  case Kind::I1:
  case Kind::I8:
    return isSigned ? f(int8_t()) : f(uint8_t());
  case Kind::I16:
    return isSigned ? f(int16_t()) : f(uint16_t());
  case Kind::I32:
    return isSigned ? f(int32_t()) : f(uint32_t());
  case Kind::I64:
  case Kind::Pointer:
    return isSigned ? f(int64_t()) : f(uint64_t());
  default:
    return forFloat(kind, f);
  }
}

} // namespace

Handler floatHandler(FloatOp op, Kind kind, unsigned width) {
  switch (op) {
  case FloatOp::Add:
    return binaryOf<FloatOp::Add>(kind, width);
  case FloatOp::Sub:
    return binaryOf<FloatOp::Sub>(kind, width);
  case FloatOp::Mul:
    return binaryOf<FloatOp::Mul>(kind, width);
  case FloatOp::Div:
    return binaryOf<FloatOp::Div>(kind, width);
  case FloatOp::Rem:
    return binaryOf<FloatOp::Rem>(kind, width);
  }
  return nullptr;
}

Handler negateHandler(Kind kind, unsigned width) {
  switch (sizeOf(kind)) {
  case 2:
    return width == 64 ? &negate<64, uint16_t> : &negate<32, uint16_t>;
  case 4:
    return width == 64 ? &negate<64, uint32_t> : &negate<32, uint32_t>;
  default:
    return width == 64 ? &negate<64, uint64_t> : &negate<32, uint64_t>;
  }
}

Handler fusedMultiplyAddHandler(Kind kind, unsigned width) {
  return forFloat(kind, [=](auto t) -> Handler {
    using T = decltype(t);
    return width == 64 ? &fusedMultiplyAdd<64, T> : &fusedMultiplyAdd<32, T>;
  });
}

Handler floatTestHandler(unsigned test, Kind kind, unsigned width) {
#define TILEJIT_ROW(n)                                                                                                 \
  case n:                                                                                                              \
    return testOf<n>(kind, width);
  switch (test) {
    TILEJIT_ROW(0)
    TILEJIT_ROW(1)
    TILEJIT_ROW(2)
    TILEJIT_ROW(3)
    TILEJIT_ROW(4)
    TILEJIT_ROW(5)
    TILEJIT_ROW(6)
    TILEJIT_ROW(7)
    TILEJIT_ROW(8)
    TILEJIT_ROW(9)
    TILEJIT_ROW(10)
    TILEJIT_ROW(11)
    TILEJIT_ROW(12)
    TILEJIT_ROW(13)
    TILEJIT_ROW(14)
    TILEJIT_ROW(15)
  }
#undef TILEJIT_ROW
  return nullptr;
}

Handler convertHandler(Kind to, Kind from, bool isSigned, unsigned width) {
  return forAny(to, isSigned, [=](auto t) -> Handler {
    using To = decltype(t);
    return forAny(from, isSigned, [=](auto f) -> Handler {
      using From = decltype(f);
      return width == 64 ? &convert<64, To, From> : &convert<32, To, From>;
    });
  });
}

} // namespace tilejit::sim
