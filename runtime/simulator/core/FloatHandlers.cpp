// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Floating-point arithmetic and conversions of LLVM's own instructions. Half and bfloat are computed in float and
// rounded once (NarrowFloat.h says why that is right).

#include "core/ElementSize.h"
#include "core/Handlers.h"
#include "core/Lanes.h"
#include "core/MathLanes.h"
#include "core/Warp.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace tilejit::sim {

namespace {

template <FloatOp O, class T> inline T apply(T x, T y) {
  Wide<T> a = wide(x), b = wide(y), r;
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
  return T(r);
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
  map<W>(warp.mask, warp.reg<T>(op.d), [=](unsigned l) { return fused(a[l], b[l], c[l]); });
}

template <unsigned W, unsigned P, class T> void test(Warp &warp, const Op &op) {
  const T *a = warp.reg<T>(op.a), *b = warp.reg<T>(op.b);
  map<W>(warp.mask, warp.reg<uint8_t>(op.d), [=](unsigned l) {
    Wide<T> x = wide(a[l]), y = wide(b[l]);
    // Bits of the LLVM predicate: equal, greater, less, unordered.
    return uint8_t(((P & 1) && x == y) || ((P & 2) && x > y) || ((P & 4) && x < y) || ((P & 8) && !(x == x && y == y)));
  });
}

template <class F> Handler forFloat(Kind kind, F f) {
  switch (kind) {
  case Kind::F16:
    return f(F16());
  case Kind::BF16:
    return f(BF16());
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
  constexpr bool fromFloat = isNarrowFloat<From> || std::is_floating_point_v<From>;
  constexpr bool toFloat = isNarrowFloat<To> || std::is_floating_point_v<To>;
  if constexpr (!fromFloat || toFloat) {
    if constexpr (!isNarrowFloat<To>)
      return static_cast<To>(wide(from));
    else if constexpr (isNarrowFloat<From> || std::is_same_v<From, float>)
      return To(static_cast<float>(from));
    else
      return To(floatToOdd(static_cast<double>(from)));
  } else {
    Wide<From> value = wide(from);
    // 2 to the number of value bits: the first number that does not fit.
    constexpr auto limit = static_cast<Wide<From>>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    constexpr auto low = static_cast<Wide<From>>(std::numeric_limits<To>::min());
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
  return forElementSize(sizeOf(kind), [=](auto t) -> Handler {
    return width == 64 ? &negate<64, decltype(t)> : &negate<32, decltype(t)>;
  });
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
