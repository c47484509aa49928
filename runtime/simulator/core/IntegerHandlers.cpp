// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Integer arithmetic, comparisons, and what keeps integers of odd widths in their containers.

#include "core/ElementSize.h"
#include "core/Handlers.h"
#include "core/Lanes.h"
#include "core/Warp.h"

#include <type_traits>

namespace tilejit::sim {

namespace {

template <class T> using Signed = std::make_signed_t<T>;
template <class T> constexpr unsigned bitsOf = sizeof(T) * 8;

template <IntegerOp O, class T> inline T apply(T a, T b) {
  using S = Signed<T>;
  if constexpr (O == IntegerOp::Add)
    return static_cast<T>(a + b);
  else if constexpr (O == IntegerOp::Sub)
    return static_cast<T>(a - b);
  else if constexpr (O == IntegerOp::Mul)
    return static_cast<T>(uint64_t(a) * b);
  else if constexpr (O == IntegerOp::And)
    return static_cast<T>(a & b);
  else if constexpr (O == IntegerOp::Or)
    return static_cast<T>(a | b);
  else if constexpr (O == IntegerOp::Xor)
    return static_cast<T>(a ^ b);
  else if constexpr (O == IntegerOp::UMin)
    return a < b ? a : b;
  else if constexpr (O == IntegerOp::UMax)
    return a > b ? a : b;
  else if constexpr (O == IntegerOp::SMin)
    return static_cast<S>(a) < static_cast<S>(b) ? a : b;
  else if constexpr (O == IntegerOp::SMax)
    return static_cast<S>(a) > static_cast<S>(b) ? a : b;
  else if constexpr (O == IntegerOp::Shl)
    return b >= bitsOf<T> ? T(0) : static_cast<T>(a << b);
  else if constexpr (O == IntegerOp::LShr)
    return b >= bitsOf<T> ? T(0) : static_cast<T>(a >> b);
  else if constexpr (O == IntegerOp::AShr)
    return static_cast<T>(static_cast<S>(a) >> (b >= bitsOf<T> ? T(bitsOf<T> - 1) : b));
  else if constexpr (O == IntegerOp::UDiv)
    return b ? static_cast<T>(a / b) : T(0);
  else if constexpr (O == IntegerOp::URem)
    return b ? static_cast<T>(a % b) : T(0);
  else if constexpr (O == IntegerOp::SDiv)
    return !b                        ? T(0)
           : static_cast<S>(b) == -1 ? static_cast<T>(0 - a)
                                     : static_cast<T>(static_cast<S>(a) / static_cast<S>(b));
  else
    return !b || static_cast<S>(b) == -1 ? T(0) : static_cast<T>(static_cast<S>(a) % static_cast<S>(b));
}

template <unsigned W, IntegerOp O, class T> void binary(Warp &warp, const Op &op) {
  const T *a = warp.reg<T>(op.a), *b = warp.reg<T>(op.b);
  map<W>(warp.mask, warp.reg<T>(op.d), [=](unsigned l) { return apply<O>(a[l], b[l]); });
}

template <IntegerTest P, class T> inline bool holds(T a, T b) {
  using S = Signed<T>;
  if constexpr (P == IntegerTest::Eq)
    return a == b;
  else if constexpr (P == IntegerTest::Ne)
    return a != b;
  else if constexpr (P == IntegerTest::UGt)
    return a > b;
  else if constexpr (P == IntegerTest::UGe)
    return a >= b;
  else if constexpr (P == IntegerTest::ULt)
    return a < b;
  else if constexpr (P == IntegerTest::ULe)
    return a <= b;
  else if constexpr (P == IntegerTest::SGt)
    return static_cast<S>(a) > static_cast<S>(b);
  else if constexpr (P == IntegerTest::SGe)
    return static_cast<S>(a) >= static_cast<S>(b);
  else if constexpr (P == IntegerTest::SLt)
    return static_cast<S>(a) < static_cast<S>(b);
  else
    return static_cast<S>(a) <= static_cast<S>(b);
}

template <unsigned W, IntegerTest P, class T> void test(Warp &warp, const Op &op) {
  const T *a = warp.reg<T>(op.a), *b = warp.reg<T>(op.b);
  map<W>(warp.mask, warp.reg<uint8_t>(op.d), [=](unsigned l) { return uint8_t(holds<P>(a[l], b[l])); });
}

template <unsigned W, class T> void mask(Warp &warp, const Op &op) {
  const T *a = warp.reg<T>(op.a);
  T keep = static_cast<T>(~uint64_t(0) >> (64 - op.imm));
  map<W>(warp.mask, warp.reg<T>(op.d), [=](unsigned l) { return static_cast<T>(a[l] & keep); });
}

template <unsigned W, class T> void signExtend(Warp &warp, const Op &op) {
  const T *a = warp.reg<T>(op.a);
  T sign = static_cast<T>(uint64_t(1) << (op.imm - 1));
  map<W>(warp.mask, warp.reg<T>(op.d), [=](unsigned l) { return static_cast<T>((a[l] ^ sign) - sign); });
}

template <unsigned W, IntegerOp O> Handler binaryOf(Kind kind) {
  return forElementSize(sizeOf(kind), [](auto t) -> Handler { return &binary<W, O, decltype(t)>; });
}

template <IntegerTest P> Handler testOf(Kind kind, unsigned width) {
  return forElementSize(sizeOf(kind), [=](auto t) -> Handler {
    using T = decltype(t);
    return width == 64 ? &test<64, P, T> : &test<32, P, T>;
  });
}

} // namespace

Handler integerHandler(IntegerOp op, Kind kind, unsigned width) {
#define TILEJIT_ROW(name)                                                                                              \
  case IntegerOp::name:                                                                                                \
    return width == 64 ? binaryOf<64, IntegerOp::name>(kind) : binaryOf<32, IntegerOp::name>(kind);
  switch (op) {
    TILEJIT_ROW(Add)
    TILEJIT_ROW(Sub)
    TILEJIT_ROW(Mul)
    TILEJIT_ROW(UDiv)
    TILEJIT_ROW(SDiv)
    TILEJIT_ROW(URem)
    TILEJIT_ROW(SRem)
    TILEJIT_ROW(Shl)
    TILEJIT_ROW(LShr)
    TILEJIT_ROW(AShr)
    TILEJIT_ROW(And)
    TILEJIT_ROW(Or)
    TILEJIT_ROW(Xor)
    TILEJIT_ROW(UMin)
    TILEJIT_ROW(UMax)
    TILEJIT_ROW(SMin)
    TILEJIT_ROW(SMax)
  }
#undef TILEJIT_ROW
  return nullptr;
}

Handler integerTestHandler(IntegerTest test, Kind kind, unsigned width) {
#define TILEJIT_ROW(name)                                                                                              \
  case IntegerTest::name:                                                                                              \
    return testOf<IntegerTest::name>(kind, width);
  switch (test) {
    TILEJIT_ROW(Eq)
    TILEJIT_ROW(Ne)
    TILEJIT_ROW(UGt)
    TILEJIT_ROW(UGe)
    TILEJIT_ROW(ULt)
    TILEJIT_ROW(ULe)
    TILEJIT_ROW(SGt)
    TILEJIT_ROW(SGe)
    TILEJIT_ROW(SLt)
    TILEJIT_ROW(SLe)
  }
#undef TILEJIT_ROW
  return nullptr;
}

Handler maskHandler(Kind kind, unsigned width) {
  return forElementSize(
      sizeOf(kind), [=](auto t) -> Handler { return width == 64 ? &mask<64, decltype(t)> : &mask<32, decltype(t)>; });
}

Handler signExtendHandler(Kind kind, unsigned width) {
  return forElementSize(sizeOf(kind), [=](auto t) -> Handler {
    return width == 64 ? &signExtend<64, decltype(t)> : &signExtend<32, decltype(t)>;
  });
}

} // namespace tilejit::sim
