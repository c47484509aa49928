// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lane code of PTX's integer operations. Shift amounts are unsigned and clamped; divisions by zero give all ones, as
// the machines do.

#include "nvidia/IntegerOperations.h"

#include <bit>
#include <limits>
#include <type_traits>

namespace tilejit::sim {

namespace {

template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> constexpr unsigned bitsOf = sizeof(T) * 8;
/// Twice as wide, of the same sign.
template <class T> struct DoubleOf;
template <> struct DoubleOf<int16_t> {
  using Type = int32_t;
};
template <> struct DoubleOf<uint16_t> {
  using Type = uint32_t;
};
template <> struct DoubleOf<int32_t> {
  using Type = int64_t;
};
template <> struct DoubleOf<uint32_t> {
  using Type = uint64_t;
};
__extension__ typedef __int128 Wide128;
__extension__ typedef unsigned __int128 UnsignedWide128;
template <> struct DoubleOf<int64_t> {
  using Type = Wide128;
};
template <> struct DoubleOf<uint64_t> {
  using Type = UnsignedWide128;
};
template <class T> using Twice = typename DoubleOf<T>::Type;

template <class T> T wrapAdd(T a, T b) { return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b)); }
template <class T> T wrapSub(T a, T b) { return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b)); }
template <class T> T mulLow(T a, T b) { return static_cast<T>(uint64_t(a) * uint64_t(b)); }
template <class T> T mulHigh(T a, T b) { return static_cast<T>((Twice<T>(a) * Twice<T>(b)) >> bitsOf<T>); }
template <class T> Twice<T> mulWide(T a, T b) { return Twice<T>(a) * Twice<T>(b); }
template <class T> T madLow(T a, T b, T c) { return wrapAdd(mulLow(a, b), c); }
template <class T> T madHigh(T a, T b, T c) { return wrapAdd(mulHigh(a, b), c); }
template <class T> Twice<T> madWide(T a, T b, Twice<T> c) { return wrapAdd<Twice<T>>(mulWide(a, b), c); }
template <class T> T addSat(T a, T b) {
  int64_t sum = int64_t(a) + b;
  constexpr int64_t most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
  return static_cast<T>(sum > most ? most : sum < least ? least : sum);
}
template <class T> T subSat(T a, T b) {
  int64_t sum = int64_t(a) - b;
  constexpr int64_t most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
  return static_cast<T>(sum > most ? most : sum < least ? least : sum);
}
int32_t madHighSat(int32_t a, int32_t b, int32_t c) { return addSat(mulHigh(a, b), c); }

/// 24-bit factors.
template <class T> T factor24(T a) { return static_cast<T>(Unsigned<T>(a) << 8) >> 8; }
template <class T> T mul24Low(T a, T b) { return static_cast<T>(Twice<T>(factor24(a)) * factor24(b)); }
template <class T> T mul24High(T a, T b) { return static_cast<T>((Twice<T>(factor24(a)) * factor24(b)) >> 16); }
template <class T> T mad24Low(T a, T b, T c) { return wrapAdd(mul24Low(a, b), c); }
template <class T> T mad24High(T a, T b, T c) { return wrapAdd(mul24High(a, b), c); }

template <class T> T divide(T a, T b) {
  if (b == 0)
    return static_cast<T>(~Unsigned<T>(0));
  if constexpr (std::is_signed_v<T>)
    return b == -1 ? wrapSub<T>(0, a) : static_cast<T>(a / b);
  else
    return static_cast<T>(a / b);
}
template <class T> T remainder(T a, T b) {
  if (b == 0)
    return a;
  if constexpr (std::is_signed_v<T>)
    return b == -1 ? T(0) : static_cast<T>(a % b);
  else
    return static_cast<T>(a % b);
}
template <class T> T magnitude(T a) { return a < 0 ? wrapSub<T>(0, a) : a; }
template <class T> T negate(T a) { return wrapSub<T>(0, a); }
template <class T> T least(T a, T b) { return a < b ? a : b; }
template <class T> T most(T a, T b) { return a > b ? a : b; }
template <class T> T leastRelu(T a, T b) { return most<T>(least(a, b), 0); }
template <class T> T mostRelu(T a, T b) { return most<T>(most(a, b), 0); }
template <class T> T sumOfDifference(T a, T b, T c) {
  return wrapAdd(c, static_cast<T>(a > b ? Unsigned<T>(a) - Unsigned<T>(b) : Unsigned<T>(b) - Unsigned<T>(a)));
}

// --- Bits ----------------------------------------------------------------------------------------------------------

template <class T> T bitAnd(T a, T b) { return a & b; }
template <class T> T bitOr(T a, T b) { return a | b; }
template <class T> T bitXor(T a, T b) { return a ^ b; }
template <class T> T bitNot(T a) { return static_cast<T>(~a); }
uint8_t predicateNot(uint8_t a) { return a ^ 1; }
template <class T> T logicalNot(T a) { return a == 0; }
template <class T> T shiftLeft(T a, uint32_t by) { return by >= bitsOf<T> ? T(0) : static_cast<T>(a << by); }
template <class T> T shiftRight(T a, uint32_t by) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(a >> (by >= bitsOf<T> ? bitsOf<T> - 1 : by));
  else
    return by >= bitsOf<T> ? T(0) : static_cast<T>(a >> by);
}
template <bool Left, bool Clamp> uint32_t funnel(uint32_t low, uint32_t high, uint32_t by) {
  uint64_t both = uint64_t(high) << 32 | low;
  by = Clamp ? (by > 32 ? 32 : by) : by & 31;
  return static_cast<uint32_t>(Left ? (both << by) >> 32 : both >> by);
}
uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, Imm table) {
  uint32_t result = 0;
#pragma GCC unroll 8
  for (unsigned k = 0; k < 8; ++k) {
    uint32_t wanted = (table.value >> k) & 1 ? ~0u : 0u;
    result |= wanted & (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  }
  return result;
}

enum class Permute : uint8_t { Index, Forward, Backward, Replicate8, EdgeLeft, EdgeRight, Replicate16 };
template <Permute M> uint32_t permute(uint32_t a, uint32_t b, uint32_t c) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0, by = c & 3;
#pragma GCC unroll 4
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t from = M == Permute::Index        ? c >> 4 * i & 15
                    : M == Permute::Forward    ? by + i
                    : M == Permute::Backward   ? (by - i) & 7
                    : M == Permute::Replicate8 ? by
                    : M == Permute::EdgeLeft   ? (i > by ? i : by)
                    : M == Permute::EdgeRight  ? (i < by ? i : by)
                                               : (by & 1) * 2 + (i & 1);
    auto byte = static_cast<uint32_t>(bytes >> 8 * (from & 7)) & 255;
    if (M == Permute::Index)
      byte = from & 8 ? (byte & 128 ? 255u : 0u) : byte;
    result |= byte << 8 * i;
  }
  return result;
}

template <class T> T extractField(T a, uint32_t position, uint32_t length) {
  position &= 255, length &= 255;
  using U = Unsigned<T>;
  if constexpr (std::is_signed_v<T>) {
    if (length == 0)
      return 0;
    // Bits past the top are copies of the sign.
    unsigned top = position + length - 1;
    T shifted = shiftRight<T>(a, position);
    if (top >= bitsOf<T> - 1)
      return shifted;
    unsigned unused = bitsOf<T> - length;
    return static_cast<T>(static_cast<T>(U(shifted) << unused) >> unused);
  } else {
    T shifted = shiftRight<T>(a, position);
    return length >= bitsOf<T> ? shifted : static_cast<T>(shifted & ((U(1) << length) - 1));
  }
}
template <class T> T insertField(T a, T b, uint32_t position, uint32_t length) {
  position &= 255, length &= 255;
  T ones = length >= bitsOf<T> ? static_cast<T>(~T(0)) : static_cast<T>((T(1) << length) - 1);
  T mask = shiftLeft<T>(ones, position);
  return static_cast<T>((b & ~mask) | (shiftLeft<T>(a, position) & mask));
}
template <unsigned W, class T> void insertFields(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  const T *a = warp.reg<T>(x.in[0]), *b = warp.reg<T>(x.in[1]);
  const uint32_t *position = warp.reg<uint32_t>(x.in[2]), *length = warp.reg<uint32_t>(x.in[3]);
  map<W>(warp.mask, warp.reg<T>(x.out[0]),
         [=](unsigned l) { return insertField<T>(a[l], b[l], position[l], length[l]); });
}

template <bool ShiftAmount, class T> uint32_t findBit(T a) {
  auto u = static_cast<Unsigned<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
  if (u == 0)
    return ~0u;
  auto leading = static_cast<uint32_t>(std::countl_zero(u));
  return ShiftAmount ? leading : bitsOf<T> - 1 - leading;
}
template <class T> T reverseBits(T a) {
  uint64_t x = a;
  x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
  x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0full) | (x & 0x0f0f0f0f0f0f0f0full) << 4;
  return static_cast<T>(__builtin_bswap64(x) >> (64 - bitsOf<T>));
}
template <class T> uint32_t countBits(T a) { return static_cast<uint32_t>(std::popcount(a)); }
template <class T> uint32_t leadingZeros(T a) { return static_cast<uint32_t>(std::countl_zero(a)); }
/// Extends the sign (or zero) from bit b on.
template <class T, bool Clamp> T extendFrom(T a, uint32_t b) {
  uint32_t length = Clamp ? (b > 32 ? 32 : b) : b & 31;
  if (length == 0)
    return 0;
  return length >= 32 ? a : static_cast<T>(static_cast<T>(Unsigned<T>(a) << (32 - length)) >> (32 - length));
}
template <bool Clamp> uint32_t bitMask(uint32_t a, uint32_t b) {
  uint32_t position = Clamp ? a : a & 31, length = Clamp ? b : b & 31;
  uint64_t ones = length >= 32 ? 0xffffffffull : (1ull << length) - 1;
  return position >= 32 ? 0 : static_cast<uint32_t>(ones << position);
}
/// The offset-th set bit from `base` on, upwards or downwards; all ones where there is none.
uint32_t findNthSet(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == 0)
    return base < 32 && (mask >> base & 1) ? base : ~0u;
  int step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
  for (int64_t at = base; at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) && --left == 0)
      return static_cast<uint32_t>(at);
  return ~0u;
}

// --- Dot products and pairs ----------------------------------------------------------------------------------------

template <class A, class B> uint32_t dot4(uint32_t a, uint32_t b, uint32_t c) {
  for (unsigned i = 0; i < 4; ++i)
    c += static_cast<uint32_t>(int32_t(static_cast<A>(a >> 8 * i)) * int32_t(static_cast<B>(b >> 8 * i)));
  return c;
}
template <class A, class B, bool High> uint32_t dot2(uint32_t a, uint32_t b, uint32_t c) {
  b >>= High ? 16 : 0;
  for (unsigned i = 0; i < 2; ++i)
    c += static_cast<uint32_t>(int64_t(static_cast<A>(a >> 16 * i)) * int64_t(static_cast<B>(b >> 8 * i)));
  return c;
}
template <class T, T F(T, T)> uint32_t pairwise(uint32_t a, uint32_t b) {
  uint32_t low = static_cast<uint16_t>(F(static_cast<T>(a), static_cast<T>(b)));
  return low | static_cast<uint32_t>(F(static_cast<T>(a >> 16), static_cast<T>(b >> 16))) << 16;
}

using S16 = int16_t;
using S32 = int32_t;
using S64 = int64_t;
using U16 = uint16_t;
using U32 = uint32_t;
using U64 = uint64_t;

#define TILEJIT_EACH(NAME, F, H, R, L)                                                                                 \
  {NAME ".u16", H, warpOf<F<U16>>}, {NAME ".s16", H, warpOf<F<S16>>}, {NAME ".u32", R, warpOf<F<U32>>},                \
      {NAME ".s32", R, warpOf<F<S32>>}, {NAME ".u64", L, warpOf<F<U64>>}, {                                            \
    NAME ".s64", L, warpOf<F<S64>>                                                                                     \
  }
#define TILEJIT_BITS(NAME, F, H, R, L)                                                                                 \
  {NAME ".b16", H, warpOf<F<U16>>}, {NAME ".b32", R, warpOf<F<U32>>}, { NAME ".b64", L, warpOf<F<U64>> }
#define TILEJIT_WORD(NAME, F)                                                                                          \
  {NAME ".u32", "rrr", warpOf<F<U32>>}, { NAME ".s32", "rrr", warpOf<F<S32>> }
#define TILEJIT_WORD3(NAME, F)                                                                                         \
  {NAME ".u32", "rrrr", warpOf<F<U32>>}, { NAME ".s32", "rrrr", warpOf<F<S32>> }
#define TILEJIT_PAIR(NAME, F)                                                                                          \
  {NAME ".u16x2", "rrr", warpOf<pairwise<U16, F<U16>>>}, { NAME ".s16x2", "rrr", warpOf<pairwise<S16, F<S16>>> }
#define TILEJIT_DOT(NAME, F, ...)                                                                                      \
  {NAME ".u32.u32", "rrrr", warpOf<F<uint8_t, uint8_t __VA_ARGS__>>},                                                  \
      {NAME ".u32.s32", "rrrr", warpOf<F<uint8_t, int8_t __VA_ARGS__>>},                                               \
      {NAME ".s32.u32", "rrrr", warpOf<F<int8_t, uint8_t __VA_ARGS__>>}, {                                             \
    NAME ".s32.s32", "rrrr", warpOf<F<int8_t, int8_t __VA_ARGS__>>                                                     \
  }
#define TILEJIT_DOT2(NAME, HIGH)                                                                                       \
  {NAME ".u32.u32", "rrrr", warpOf<dot2<U16, uint8_t, HIGH>>},                                                         \
      {NAME ".u32.s32", "rrrr", warpOf<dot2<U16, int8_t, HIGH>>},                                                      \
      {NAME ".s32.u32", "rrrr", warpOf<dot2<S16, uint8_t, HIGH>>}, {                                                   \
    NAME ".s32.s32", "rrrr", warpOf<dot2<S16, int8_t, HIGH>>                                                           \
  }

const IntegerOperation rows[] = {
    TILEJIT_EACH("add", wrapAdd, "hhh", "rrr", "lll"),
    TILEJIT_EACH("sub", wrapSub, "hhh", "rrr", "lll"),
    TILEJIT_EACH("mul.lo", mulLow, "hhh", "rrr", "lll"),
    TILEJIT_EACH("mul.hi", mulHigh, "hhh", "rrr", "lll"),
    TILEJIT_EACH("mad.lo", madLow, "hhhh", "rrrr", "llll"),
    TILEJIT_EACH("mad.hi", madHigh, "hhhh", "rrrr", "llll"),
    TILEJIT_EACH("div", divide, "hhh", "rrr", "lll"),
    TILEJIT_EACH("rem", remainder, "hhh", "rrr", "lll"),
    TILEJIT_EACH("min", least, "hhh", "rrr", "lll"),
    TILEJIT_EACH("max", most, "hhh", "rrr", "lll"),
    TILEJIT_EACH("sad", sumOfDifference, "hhhh", "rrrr", "llll"),
    TILEJIT_EACH("shr", shiftRight, "hhr", "rrr", "llr"),
    TILEJIT_BITS("shr", shiftRight, "hhr", "rrr", "llr"),
    TILEJIT_BITS("shl", shiftLeft, "hhr", "rrr", "llr"),
    TILEJIT_BITS("and", bitAnd, "hhh", "rrr", "lll"),
    TILEJIT_BITS("or", bitOr, "hhh", "rrr", "lll"),
    TILEJIT_BITS("xor", bitXor, "hhh", "rrr", "lll"),
    TILEJIT_BITS("not", bitNot, "hh", "rr", "ll"),
    TILEJIT_BITS("cnot", logicalNot, "hh", "rr", "ll"),
    {"and.pred", "ppp", warpOf<bitAnd<uint8_t>>},
    {"or.pred", "ppp", warpOf<bitOr<uint8_t>>},
    {"xor.pred", "ppp", warpOf<bitXor<uint8_t>>},
    {"not.pred", "pp", warpOf<predicateNot>},
    {"mul.wide.u16", "rhh", warpOf<mulWide<U16>>},
    {"mul.wide.s16", "rhh", warpOf<mulWide<S16>>},
    {"mul.wide.u32", "lrr", warpOf<mulWide<U32>>},
    {"mul.wide.s32", "lrr", warpOf<mulWide<S32>>},
    {"mad.wide.u16", "rhhr", warpOf<madWide<U16>>},
    {"mad.wide.s16", "rhhr", warpOf<madWide<S16>>},
    {"mad.wide.u32", "lrrl", warpOf<madWide<U32>>},
    {"mad.wide.s32", "lrrl", warpOf<madWide<S32>>},
    {"add.sat.s32", "rrr", warpOf<addSat<S32>>},
    {"sub.sat.s32", "rrr", warpOf<subSat<S32>>},
    {"mad.hi.sat.s32", "rrrr", warpOf<madHighSat>},
    {"min.relu.s32", "rrr", warpOf<leastRelu<S32>>},
    {"max.relu.s32", "rrr", warpOf<mostRelu<S32>>},
    TILEJIT_WORD("mul24.lo", mul24Low),
    TILEJIT_WORD("mul24.hi", mul24High),
    TILEJIT_WORD3("mad24.lo", mad24Low),
    TILEJIT_WORD3("mad24.hi", mad24High),
    {"abs.s16", "hh", warpOf<magnitude<S16>>},
    {"abs.s32", "rr", warpOf<magnitude<S32>>},
    {"abs.s64", "ll", warpOf<magnitude<S64>>},
    {"neg.s16", "hh", warpOf<negate<S16>>},
    {"neg.s32", "rr", warpOf<negate<S32>>},
    {"neg.s64", "ll", warpOf<negate<S64>>},
    TILEJIT_PAIR("add", wrapAdd),
    TILEJIT_PAIR("min", least),
    TILEJIT_PAIR("max", most),
    {"min.relu.s16x2", "rrr", warpOf<pairwise<S16, leastRelu<S16>>>},
    {"max.relu.s16x2", "rrr", warpOf<pairwise<S16, mostRelu<S16>>>},
    {"shf.l.clamp.b32", "rrrr", warpOf<funnel<true, true>>},
    {"shf.l.wrap.b32", "rrrr", warpOf<funnel<true, false>>},
    {"shf.r.clamp.b32", "rrrr", warpOf<funnel<false, true>>},
    {"shf.r.wrap.b32", "rrrr", warpOf<funnel<false, false>>},
    {"lop3.b32", "rrrr#", warpOf<lop3>},
    {"prmt.b32", "rrrr", warpOf<permute<Permute::Index>>},
    {"prmt.b32.f4e", "rrrr", warpOf<permute<Permute::Forward>>},
    {"prmt.b32.b4e", "rrrr", warpOf<permute<Permute::Backward>>},
    {"prmt.b32.rc8", "rrrr", warpOf<permute<Permute::Replicate8>>},
    {"prmt.b32.ecl", "rrrr", warpOf<permute<Permute::EdgeLeft>>},
    {"prmt.b32.ecr", "rrrr", warpOf<permute<Permute::EdgeRight>>},
    {"prmt.b32.rc16", "rrrr", warpOf<permute<Permute::Replicate16>>},
    {"bfe.u32", "rrrr", warpOf<extractField<U32>>},
    {"bfe.s32", "rrrr", warpOf<extractField<S32>>},
    {"bfe.u64", "llrr", warpOf<extractField<U64>>},
    {"bfe.s64", "llrr", warpOf<extractField<S64>>},
    {"bfi.b32", "rrrrr", insertFields<32, U32>},
    {"bfi.b64", "lllrr", insertFields<32, U64>},
    {"bfind.u32", "rr", warpOf<findBit<false, U32>>},
    {"bfind.s32", "rr", warpOf<findBit<false, S32>>},
    {"bfind.u64", "rl", warpOf<findBit<false, U64>>},
    {"bfind.s64", "rl", warpOf<findBit<false, S64>>},
    {"bfind.shiftamt.u32", "rr", warpOf<findBit<true, U32>>},
    {"bfind.shiftamt.s32", "rr", warpOf<findBit<true, S32>>},
    {"bfind.shiftamt.u64", "rl", warpOf<findBit<true, U64>>},
    {"bfind.shiftamt.s64", "rl", warpOf<findBit<true, S64>>},
    {"brev.b32", "rr", warpOf<reverseBits<U32>>},
    {"brev.b64", "ll", warpOf<reverseBits<U64>>},
    {"popc.b32", "rr", warpOf<countBits<U32>>},
    {"popc.b64", "rl", warpOf<countBits<U64>>},
    {"clz.b32", "rr", warpOf<leadingZeros<U32>>},
    {"clz.b64", "rl", warpOf<leadingZeros<U64>>},
    {"szext.wrap.u32", "rrr", warpOf<extendFrom<U32, false>>},
    {"szext.wrap.s32", "rrr", warpOf<extendFrom<S32, false>>},
    {"szext.clamp.u32", "rrr", warpOf<extendFrom<U32, true>>},
    {"szext.clamp.s32", "rrr", warpOf<extendFrom<S32, true>>},
    {"bmsk.wrap.b32", "rrr", warpOf<bitMask<false>>},
    {"bmsk.clamp.b32", "rrr", warpOf<bitMask<true>>},
    {"fns.b32", "rrrr", warpOf<findNthSet>},
    TILEJIT_DOT("dp4a", dot4),
    TILEJIT_DOT2("dp2a.lo", false),
    TILEJIT_DOT2("dp2a.hi", true),
};

template <class U> void carry(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  auto kind = static_cast<CarryOp>(op.imm & 255);
  bool in = op.imm >> 8 & 1, out = op.imm >> 9 & 1, isSigned = op.imm >> 10 & 1;
  using S = std::make_signed_t<U>;
  bool multiplies = kind == CarryOp::MadLow || kind == CarryOp::MadHigh;
  const U *a = warp.reg<U>(x.in[0]), *b = warp.reg<U>(x.in[1]), *c = multiplies ? warp.reg<U>(x.in[2]) : b;
  const uint8_t *flag = warp.reg<uint8_t>(x.in.back());
  alignas(64) U result[32];
  alignas(64) uint8_t flags[32];
  for (unsigned l = 0; l < 32; ++l) {
    U first = a[l], second = c[l];
    if (kind == CarryOp::MadLow)
      first = static_cast<U>(a[l] * b[l]);
    else if (kind == CarryOp::MadHigh)
      first =
          isSigned ? static_cast<U>(mulHigh<S>(static_cast<S>(a[l]), static_cast<S>(b[l]))) : mulHigh<U>(a[l], b[l]);
    U more = in ? flag[l] & 1 : 0;
    if (kind == CarryOp::Sub) {
      result[l] = first - second - more;
      flags[l] = first < second || (first == second && more);
    } else {
      U sum = first + second;
      result[l] = sum + more;
      flags[l] = sum < first || result[l] < sum;
    }
  }
  blend<32>(warp.reg<U>(x.out[0]), result, warp.mask);
  if (out)
    blend<32>(warp.reg<uint8_t>(x.out[1]), flags, warp.mask);
}

} // namespace

const IntegerOperation *findIntegerOperation(std::string_view name) {
  for (const IntegerOperation &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

Handler carryHandler(unsigned bits) { return bits == 64 ? &carry<uint64_t> : &carry<uint32_t>; }

} // namespace tilejit::sim
