// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tables of names, and lane code of library functions that are in no other table.

#include "decode/LibraryNames.h"

#include "core/MathLanes.h"

#include "llvm/ADT/StringSwitch.h"

#include <bit>

namespace tilejit::sim {

llvm::StringRef libraryAlias(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"fmax", "max"}, "maxnum")
      .Cases({"fmin", "min"}, "minnum")
      .Case("mad", "fma")
      .Case("powr", "pow")
      .Case("recip", "rcp")
      .Case("ncdf", "normcdf")
      .Case("ncdfinv", "normcdfinv")
      .Case("fdivide", "div")
      .Case("divide", "div")
      .Case("cyl_bessel_i0", "i0")
      .Case("cyl_bessel_i1", "i1")
      .Default(name);
}

namespace {

template <class T> double asDouble(T a) { return static_cast<double>(wide(a)); }
template <class T> T fromDouble(double x) {
  if constexpr (isNarrowFloat<T>)
    return T(floatToOdd(x));
  else
    return static_cast<T>(x);
}

template <class T> T scaleBy(T a, int32_t by) { return fromDouble<T>(std::ldexp(asDouble(a), by)); }
template <class T> T powerBy(T a, int32_t by) { return fromDouble<T>(std::pow(asDouble(a), by)); }
template <class T> T mantissaOf(T a) {
  int exponent = 0;
  return fromDouble<T>(std::frexp(asDouble(a), &exponent));
}
template <class T> int32_t exponentOf(T a) {
  int exponent = 0;
  double x = asDouble(a);
  if (std::isfinite(x))
    std::frexp(x, &exponent);
  return exponent;
}
template <class T> T fractionOf(T a) {
  double x = asDouble(a);
  return std::isinf(x) ? copySign(T(Wide<T>(0)), a) : copySign(fromDouble<T>(x - std::trunc(x)), a);
}
template <class T> uint8_t signBitOf(T a) { return (bitsOf(a) & signOf<T>) != 0; }
/// Classes are numbered as llvm.is.fpclass does: NaNs first, then from minus to plus infinity.
template <class T> uint8_t isOfClass(T a, Imm classes) {
  using B = BitsOf<T>;
  constexpr unsigned exponentBits = sizeof(T) == 8 ? 11 : std::is_same_v<T, F16> ? 5 : 8;
  constexpr unsigned mantissaBits = sizeof(T) * 8 - 1 - exponentBits;
  B bits = bitsOf(a), mantissa = bits & static_cast<B>((B(1) << mantissaBits) - 1);
  auto exponent = static_cast<B>((bits & static_cast<B>(~signOf<T>)) >> mantissaBits);
  constexpr B top = static_cast<B>((B(1) << exponentBits) - 1);
  bool negative = bits & signOf<T>;
  unsigned found;
  if (exponent == top && mantissa)
    found = mantissa >> (mantissaBits - 1) & 1;
  else if (exponent == top)
    found = negative ? 2 : 9;
  else if (exponent)
    found = negative ? 3 : 8;
  else if (mantissa)
    found = negative ? 4 : 7;
  else
    found = negative ? 5 : 6;
  return static_cast<uint8_t>(classes.value >> found & 1);
}

} // namespace

#define TILEJIT_BY_KIND(F)                                                                                             \
  (kind == Kind::F16    ? lanesOf<F<F16>>                                                                              \
   : kind == Kind::BF16 ? lanesOf<F<BF16>>                                                                             \
   : kind == Kind::F32  ? lanesOf<F<float>>                                                                            \
                        : lanesOf<F<double>>)

HandlerPair frexpHandlers(Kind kind, bool exponent) {
  return exponent ? TILEJIT_BY_KIND(exponentOf) : TILEJIT_BY_KIND(mantissaOf);
}
HandlerPair fractionHandlersOf(Kind kind) { return TILEJIT_BY_KIND(fractionOf); }
HandlerPair scaleHandlersOf(Kind kind) { return TILEJIT_BY_KIND(scaleBy); }
HandlerPair powerHandlersOf(Kind kind) { return TILEJIT_BY_KIND(powerBy); }
HandlerPair classHandlersOf(Kind kind) { return TILEJIT_BY_KIND(isOfClass); }
HandlerPair signBitHandlersOf(Kind kind) { return TILEJIT_BY_KIND(signBitOf); }
#undef TILEJIT_BY_KIND

namespace {

// Integer functions; names of results and operands are those of C.
template <class T> T least(T a, T b) { return a < b ? a : b; }
template <class T> T most(T a, T b) { return a > b ? a : b; }
template <class T> T magnitude(T a) { return a < 0 ? static_cast<T>(0 - std::make_unsigned_t<T>(a)) : a; }
template <class T> uint32_t leadingZeros(T a) { return static_cast<uint32_t>(std::countl_zero(a)); }
template <class T> T leadingZerosWide(T a) { return static_cast<T>(std::countl_zero(a)); }
template <class T> uint32_t ones(T a) { return static_cast<uint32_t>(std::popcount(a)); }
template <class T> T onesWide(T a) { return static_cast<T>(std::popcount(a)); }
template <class T> uint32_t firstSet(T a) { return a ? static_cast<uint32_t>(std::countr_zero(a)) + 1 : 0; }
template <class T> T reversed(T a) {
  uint64_t x = a;
  x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
  x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0full) | (x & 0x0f0f0f0f0f0f0f0full) << 4;
  return static_cast<T>(__builtin_bswap64(x) >> (64 - 8 * sizeof(T)));
}
__extension__ typedef __int128 Wide128;
template <class T> T highProduct(T a, T b) { return static_cast<T>((Wide128(a) * Wide128(b)) >> (8 * sizeof(T))); }
uint64_t highProductUnsigned(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 Unsigned128;
  return static_cast<uint64_t>((Unsigned128(a) * b) >> 64);
}
template <class T> T product24(T a, T b) {
  auto cut = [](T x) { return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << 8) >> 8; };
  return static_cast<T>(static_cast<uint32_t>(cut(a)) * static_cast<uint32_t>(cut(b)));
}
template <class T> uint32_t differenceSum(T a, T b, uint32_t c) {
  return c + (a > b ? uint32_t(a) - uint32_t(b) : uint32_t(b) - uint32_t(a));
}
template <class T> T halfSum(T a, T b) { return static_cast<T>((int64_t(a) + int64_t(b)) >> 1); }
template <class T> T halfSumUp(T a, T b) { return static_cast<T>((int64_t(a) + int64_t(b) + 1) >> 1); }
uint32_t bytePermute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned from = selector >> 4 * i & 15;
    auto byte = static_cast<uint32_t>(bytes >> 8 * (from & 7)) & 255;
    if (from & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}
double joinWords(int32_t high, int32_t low) {
  return std::bit_cast<double>(uint64_t(uint32_t(high)) << 32 | uint32_t(low));
}
int32_t highWord(double a) { return static_cast<int32_t>(std::bit_cast<uint64_t>(a) >> 32); }
int32_t lowWord(double a) { return static_cast<int32_t>(std::bit_cast<uint64_t>(a)); }

const LibraryInteger rows[] = {
    {"abs", lanesOf<magnitude<int32_t>>},
    {"brev", lanesOf<reversed<uint32_t>>},
    {"brevll", lanesOf<reversed<uint64_t>>},
    {"byte_perm", lanesOf<bytePermute>},
    {"clz", lanesOf<leadingZeros<uint32_t>>},
    {"clz_u32", lanesOf<leadingZeros<uint32_t>>},
    {"clz_u64", lanesOf<leadingZerosWide<uint64_t>>},
    {"clzll", lanesOf<leadingZeros<uint64_t>>},
    {"double2hiint", lanesOf<highWord>},
    {"double2loint", lanesOf<lowWord>},
    {"ffs", lanesOf<firstSet<uint32_t>>},
    {"ffsll", lanesOf<firstSet<uint64_t>>},
    {"hadd", lanesOf<halfSum<int32_t>>},
    {"hiloint2double", lanesOf<joinWords>},
    {"llabs", lanesOf<magnitude<int64_t>>},
    {"llmax", lanesOf<most<int64_t>>},
    {"llmin", lanesOf<least<int64_t>>},
    {"max", lanesOf<most<int32_t>>},
    {"min", lanesOf<least<int32_t>>},
    {"mul24", lanesOf<product24<int32_t>>},
    {"mul24_i32", lanesOf<product24<int32_t>>},
    {"mul24_u32", lanesOf<product24<uint32_t>>},
    {"mul64hi", lanesOf<highProduct<int64_t>>},
    {"mul_hi_i32", lanesOf<highProduct<int32_t>>},
    {"mul_hi_i64", lanesOf<highProduct<int64_t>>},
    {"mul_hi_u32", lanesOf<highProduct<uint32_t>>},
    {"mul_hi_u64", lanesOf<highProductUnsigned>},
    {"mulhi", lanesOf<highProduct<int32_t>>},
    {"popc", lanesOf<ones<uint32_t>>},
    {"popcll", lanesOf<ones<uint64_t>>},
    {"popcount_u32", lanesOf<ones<uint32_t>>},
    {"popcount_u64", lanesOf<onesWide<uint64_t>>},
    {"rhadd", lanesOf<halfSumUp<int32_t>>},
    {"sad", lanesOf<differenceSum<int32_t>>},
    {"uhadd", lanesOf<halfSum<uint32_t>>},
    {"ullmax", lanesOf<most<uint64_t>>},
    {"ullmin", lanesOf<least<uint64_t>>},
    {"umax", lanesOf<most<uint32_t>>},
    {"umin", lanesOf<least<uint32_t>>},
    {"umul24", lanesOf<product24<uint32_t>>},
    {"umul64hi", lanesOf<highProductUnsigned>},
    {"umulhi", lanesOf<highProduct<uint32_t>>},
    {"urhadd", lanesOf<halfSumUp<uint32_t>>},
    {"usad", lanesOf<differenceSum<uint32_t>>},
};

} // namespace

const LibraryInteger *findLibraryInteger(std::string_view name) {
  for (const LibraryInteger &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

} // namespace tilejit::sim
