// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// LLVM's intrinsics on integers of up to 64 bits. Integers of odd widths are zero-extended in their containers; the
// width comes as the operation's number.

#include "decode/Intrinsics.h"

#include "core/Handlers.h"
#include "core/MathLanes.h"

#include "llvm/ADT/StringSwitch.h"

#include <bit>
#include <type_traits>

namespace tilejit::sim {

namespace {

template <class T> using Signed = std::make_signed_t<T>;
template <class T> constexpr unsigned sizeInBits = sizeof(T) * 8;
template <class T> T masked(T a, Imm bits) {
  return static_cast<T>(a &
                        (bits.value >= int64_t(sizeInBits<T>) ? T(~T(0)) : static_cast<T>((T(1) << bits.value) - 1)));
}
template <class T> Signed<T> extended(T a, Imm bits) {
  unsigned unused = sizeInBits<T> - static_cast<unsigned>(bits.value);
  return static_cast<Signed<T>>(static_cast<Signed<T>>(static_cast<T>(a << unused)) >> unused);
}

template <class T> T signedMin(T a, T b, Imm n) { return extended(a, n) < extended(b, n) ? a : b; }
template <class T> T signedMax(T a, T b, Imm n) { return extended(a, n) > extended(b, n) ? a : b; }
template <class T> T unsignedMin(T a, T b, Imm) { return a < b ? a : b; }
template <class T> T unsignedMax(T a, T b, Imm) { return a > b ? a : b; }
template <class T> T magnitude(T a, Imm n) { return extended(a, n) < 0 ? masked(static_cast<T>(T(0) - a), n) : a; }
template <class T> T ones(T a, Imm) { return static_cast<T>(std::popcount(a)); }
template <class T> T leadingZeros(T a, Imm n) {
  return static_cast<T>(std::countl_zero(a) - int(sizeInBits<T>) + int(n.value));
}
template <class T> T trailingZeros(T a, Imm n) {
  int count = std::countr_zero(a);
  return static_cast<T>(count < n.value ? count : n.value);
}
template <class T> T swapBytes(T a, Imm n) { return static_cast<T>(__builtin_bswap64(uint64_t(a)) >> (64 - n.value)); }
template <class T> T reverse(T a, Imm n) {
  uint64_t x = a;
  x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
  x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0full) | (x & 0x0f0f0f0f0f0f0f0full) << 4;
  return static_cast<T>(__builtin_bswap64(x) >> (64 - n.value));
}
template <class T> T funnelLeft(T a, T b, T c, Imm n) {
  auto by = static_cast<unsigned>(c % static_cast<uint64_t>(n.value));
  auto rest = static_cast<unsigned>(n.value) - by;
  return by == 0 ? a : masked(static_cast<T>(static_cast<T>(a << by) | static_cast<T>(b >> rest)), n);
}
template <class T> T funnelRight(T a, T b, T c, Imm n) {
  auto by = static_cast<unsigned>(c % static_cast<uint64_t>(n.value));
  auto rest = static_cast<unsigned>(n.value) - by;
  return by == 0 ? b : masked(static_cast<T>(static_cast<T>(a << rest) | static_cast<T>(b >> by)), n);
}

// Sums and products with all their bits.
__extension__ typedef __int128 Wide128;
enum class Sum : uint8_t { Add, Sub, Mul };
template <Sum S> Wide128 exact(Wide128 a, Wide128 b) { return S == Sum::Add ? a + b : S == Sum::Sub ? a - b : a * b; }
/// Signed and unsigned limits of n bits.
struct Limits {
  Wide128 least, most;
};
template <bool IsSigned> Limits limitsOf(Imm n) {
  Wide128 one = 1;
  return IsSigned ? Limits{-(one << (n.value - 1)), (one << (n.value - 1)) - 1} : Limits{0, (one << n.value) - 1};
}
template <bool IsSigned, class T> Wide128 widened(T a, Imm n) {
  if constexpr (IsSigned)
    return extended(a, n);
  else
    return a;
}
template <Sum S, bool IsSigned, class T> T wrapped(T a, T b, Imm n) {
  if constexpr (S == Sum::Mul)
    return masked(static_cast<T>(uint64_t(a) * uint64_t(b)), n);
  return masked(static_cast<T>(exact<S>(widened<IsSigned>(a, n), widened<IsSigned>(b, n))), n);
}
template <Sum S, bool IsSigned, class T> uint8_t overflows(T a, T b, Imm n) {
  if constexpr (S == Sum::Mul && !IsSigned)
    return b != 0 && a > masked(T(~T(0)), n) / b;
  Wide128 result = exact<S>(widened<IsSigned>(a, n), widened<IsSigned>(b, n));
  Limits limits = limitsOf<IsSigned>(n);
  return result < limits.least || result > limits.most;
}
template <Sum S, bool IsSigned, class T> T clamped(T a, T b, Imm n) {
  Wide128 result = exact<S>(widened<IsSigned>(a, n), widened<IsSigned>(b, n));
  Limits limits = limitsOf<IsSigned>(n);
  return masked(static_cast<T>(result < limits.least ? limits.least : result > limits.most ? limits.most : result), n);
}
template <bool IsSigned, class T> T shiftClamped(T a, T b, Imm n) {
  Limits limits = limitsOf<IsSigned>(n);
  Wide128 value = widened<IsSigned>(a, n);
  if (uint64_t(b) >= uint64_t(n.value))
    return 0;
  if constexpr (!IsSigned)
    return b && a >> (n.value - int64_t(b)) ? masked(T(~T(0)), n) : masked(static_cast<T>(a << b), n);
  Wide128 result = value * (Wide128(1) << static_cast<unsigned>(b));
  return masked(static_cast<T>(result < limits.least ? limits.least : result > limits.most ? limits.most : result), n);
}
template <bool IsSigned, class T> uint8_t threeWay(T a, T b, Imm n) {
  Wide128 x = widened<IsSigned>(a, n), y = widened<IsSigned>(b, n);
  return static_cast<uint8_t>(int(x > y) - int(x < y));
}

struct Row {
  llvm::StringRef name;
  unsigned operands;
  HandlerPair i8, i16, i32, i64;
  HandlerPair of(Kind kind) const {
    unsigned size = sizeOf(kind);
    return size == 1 ? i8 : size == 2 ? i16 : size == 4 ? i32 : i64;
  }
};
#define TILEJIT_ROW(NAME, N, ...)                                                                                      \
  {NAME,                                                                                                               \
   N,                                                                                                                  \
   lanesOf < __VA_ARGS__ uint8_t >>                                                                                    \
   , lanesOf < __VA_ARGS__ uint16_t >>, lanesOf < __VA_ARGS__ uint32_t >>, lanesOf < __VA_ARGS__ uint64_t >> }

const Row rows[] = {
    TILEJIT_ROW("smin", 2, signedMin <),
    TILEJIT_ROW("smax", 2, signedMax <),
    TILEJIT_ROW("umin", 2, unsignedMin <),
    TILEJIT_ROW("umax", 2, unsignedMax <),
    TILEJIT_ROW("abs", 1, magnitude <),
    TILEJIT_ROW("ctpop", 1, ones <),
    TILEJIT_ROW("ctlz", 1, leadingZeros <),
    TILEJIT_ROW("cttz", 1, trailingZeros <),
    TILEJIT_ROW("bswap", 1, swapBytes <),
    TILEJIT_ROW("bitreverse", 1, reverse <),
    TILEJIT_ROW("fshl", 3, funnelLeft <),
    TILEJIT_ROW("fshr", 3, funnelRight <),
    TILEJIT_ROW("sadd.sat", 2, clamped < Sum::Add, true, ),
    TILEJIT_ROW("uadd.sat", 2, clamped < Sum::Add, false, ),
    TILEJIT_ROW("ssub.sat", 2, clamped < Sum::Sub, true, ),
    TILEJIT_ROW("usub.sat", 2, clamped < Sum::Sub, false, ),
    TILEJIT_ROW("sshl.sat", 2, shiftClamped < true, ),
    TILEJIT_ROW("ushl.sat", 2, shiftClamped < false, ),
};
/// The result, and whether it overflows.
struct OverflowRow {
  Row result, flag;
};
#define TILEJIT_OVERFLOW(NAME, S, SIGNED)                                                                              \
  {TILEJIT_ROW(NAME, 2, wrapped < S, SIGNED, ), TILEJIT_ROW(NAME, 2, overflows < S, SIGNED, )}
const OverflowRow overflowRows[] = {
    TILEJIT_OVERFLOW("sadd.with.overflow", Sum::Add, true), TILEJIT_OVERFLOW("uadd.with.overflow", Sum::Add, false),
    TILEJIT_OVERFLOW("ssub.with.overflow", Sum::Sub, true), TILEJIT_OVERFLOW("usub.with.overflow", Sum::Sub, false),
    TILEJIT_OVERFLOW("smul.with.overflow", Sum::Mul, true), TILEJIT_OVERFLOW("umul.with.overflow", Sum::Mul, false),
};
const Row compareRows[] = {TILEJIT_ROW("scmp", 2, threeWay < true, ), TILEJIT_ROW("ucmp", 2, threeWay < false, )};
#undef TILEJIT_ROW
#undef TILEJIT_OVERFLOW

/// Bits of the integers a call works on; an error for wide ones.
unsigned bitsOfCall(Call &call) {
  unsigned bits = call.call.getArgOperand(0)->getType()->getScalarSizeInBits();
  if (bits > 64)
    call.decoder.fail("unsupported intrinsic '" + call.name + "': integers wider than 64 bits");
  return bits;
}

bool isNamed(llvm::StringRef callee, llvm::StringRef row) {
  return callee.consume_front("llvm.") && callee.consume_front(row) && callee.starts_with(".");
}

void integerIntrinsic(Call &call) {
  const auto *row = llvm::find_if(rows, [&](const Row &r) { return isNamed(call.name, r.name); });
  unsigned bits = bitsOfCall(call);
  const Regs results = call.results();
  if (bits > 64)
    return;
  for (size_t i = 0; i < results.size(); ++i) {
    Regs sources;
    for (unsigned a = 0; a < row->operands; ++a)
      sources.push_back(call.regs(a)[i]);
    emitLanes(call.decoder, row->of(call.kind(0)), results[i], sources, bits);
  }
}

void overflowIntrinsic(Call &call) {
  const auto *row =
      llvm::find_if(overflowRows, [&](const OverflowRow &r) { return isNamed(call.name, r.result.name); });
  unsigned bits = bitsOfCall(call);
  const Regs results = call.results(), a = call.regs(0), b = call.regs(1);
  if (bits > 64)
    return;
  for (size_t i = 0; i < a.size(); ++i) {
    emitLanes(call.decoder, row->result.of(call.kind(0)), results[i], {a[i], b[i]}, bits);
    emitLanes(call.decoder, row->flag.of(call.kind(0)), results[a.size() + i], {a[i], b[i]}, bits);
  }
}

/// scmp, ucmp: -1, 0 or 1 in a type of its own.
void compareIntrinsic(Call &call) {
  Decoder &d = call.decoder;
  const auto *row = llvm::find_if(compareRows, [&](const Row &r) { return isNamed(call.name, r.name); });
  unsigned bits = bitsOfCall(call), resultBits = call.call.getType()->getScalarSizeInBits();
  const Regs results = call.results(), a = call.regs(0), b = call.regs(1);
  for (size_t i = 0; i < results.size() && bits <= 64; ++i) {
    Reg byte = d.newReg(Kind::I8);
    Kind kind = d.kindOfReg(results[i]);
    emitLanes(d, row->of(call.kind(0)), byte, {a[i], b[i]}, bits);
    Reg wide = d.newReg(kind);
    d.emit(convertHandler(kind, Kind::I8, true, d.width()), wide, {byte});
    d.emit(maskHandler(kind, d.width()), results[i], {wide}, resultBits);
  }
}

// --- Saturating conversions ----------------------------------------------------------------------------------------

template <bool IsSigned, class T, class F> T saturating(F a, Imm n) {
  double x = std::trunc(static_cast<double>(wide(a)));
  double most = std::ldexp(1.0, static_cast<int>(n.value) - IsSigned), least = IsSigned ? -most : 0;
  if (x != x)
    return 0;
  if (x >= most)
    return masked(static_cast<T>(limitsOf<IsSigned>(n).most), n);
  if (x <= least)
    return masked(static_cast<T>(limitsOf<IsSigned>(n).least), n);
  if constexpr (IsSigned)
    return masked(static_cast<T>(static_cast<int64_t>(x)), n);
  else
    return static_cast<T>(static_cast<uint64_t>(x));
}

template <bool IsSigned, class F> HandlerPair saturatingTo(Kind to) {
  switch (sizeOf(to)) {
  case 1:
    return lanesOf<saturating<IsSigned, uint8_t, F>>;
  case 2:
    return lanesOf<saturating<IsSigned, uint16_t, F>>;
  case 4:
    return lanesOf<saturating<IsSigned, uint32_t, F>>;
  default:
    return lanesOf<saturating<IsSigned, uint64_t, F>>;
  }
}

template <bool IsSigned> void saturatingConversion(Call &call) {
  unsigned bits = call.call.getType()->getScalarSizeInBits();
  const Regs results = call.results(), sources = call.regs(0);
  if (bits > 64 || results.size() != sources.size())
    return unsupportedCall(call);
  for (size_t i = 0; i < results.size(); ++i) {
    Kind to = call.decoder.kindOfReg(results[i]), from = call.kind(0);
    HandlerPair handlers = from == Kind::F16    ? saturatingTo<IsSigned, F16>(to)
                           : from == Kind::BF16 ? saturatingTo<IsSigned, BF16>(to)
                           : from == Kind::F32  ? saturatingTo<IsSigned, float>(to)
                                                : saturatingTo<IsSigned, double>(to);
    emitLanes(call.decoder, handlers, results[i], {sources[i]}, bits);
  }
}

} // namespace

void addIntegerIntrinsicRules(Rules &rules) {
  for (const Row &row : rows)
    rules.callPrefix(("llvm." + row.name + ".").str(), integerIntrinsic);
  for (const OverflowRow &row : overflowRows)
    rules.callPrefix(("llvm." + row.result.name + ".").str(), overflowIntrinsic);
  for (const Row &row : compareRows)
    rules.callPrefix(("llvm." + row.name + ".").str(), compareIntrinsic);
  rules.callPrefix("llvm.fptosi.sat.", saturatingConversion<true>);
  rules.callPrefix("llvm.fptoui.sat.", saturatingConversion<false>);
}

} // namespace tilejit::sim
