// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lane functions that work alike on all kinds of floats: what kind computes in, minima and maxima with their three ways
// to treat NaN, and rounding to integers.

#ifndef TILEJIT_SIMULATOR_CORE_MATHLANES_H
#define TILEJIT_SIMULATOR_CORE_MATHLANES_H

#include "core/NarrowFloat.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tilejit::sim {

template <class T> inline constexpr bool isNarrowFloat = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;
/// The type in which a kind of float is computed.
template <class T> using Wide = std::conditional_t<isNarrowFloat<T>, float, T>;
template <class T> inline Wide<T> wide(T value) { return static_cast<Wide<T>>(value); }
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
template <class T> inline BitsOf<T> bitsOf(T value) { return std::bit_cast<BitsOf<T>>(value); }
template <class T> inline T fromBits(BitsOf<T> bits) { return std::bit_cast<T>(bits); }
template <class T> inline constexpr BitsOf<T> signOf = static_cast<BitsOf<T>>(BitsOf<T>(1) << (sizeof(T) * 8 - 1));

/// The NaN that NVIDIA's arithmetic gives, and LLVM's preferred one.
template <class T> inline T quietNan() { return T(std::numeric_limits<Wide<T>>::quiet_NaN()); }

template <class T> inline T absolute(T a) { return fromBits<T>(static_cast<BitsOf<T>>(bitsOf(a) & ~signOf<T>)); }
template <class T> inline T negated(T a) { return fromBits<T>(static_cast<BitsOf<T>>(bitsOf(a) ^ signOf<T>)); }
template <class T> inline T copySign(T a, T b) {
  return fromBits<T>(static_cast<BitsOf<T>>((bitsOf(a) & ~signOf<T>) | (bitsOf(b) & signOf<T>)));
}

/// The smaller number; -0 is smaller than +0. A NaN gives way.
template <class T> inline T minimumNumber(T a, T b) {
  Wide<T> x = wide(a), y = wide(b);
  T equal = fromBits<T>(bitsOf(a) | bitsOf(b));
  T least = x < y ? a : x == y ? equal : b;
  return y != y ? a : x != x ? b : least;
}
template <class T> inline T maximumNumber(T a, T b) {
  Wide<T> x = wide(a), y = wide(b);
  T equal = fromBits<T>(bitsOf(a) & bitsOf(b));
  T most = x > y ? a : x == y ? equal : b;
  return y != y ? a : x != x ? b : most;
}
/// The same where a NaN wins.
template <class T> inline T minimumOrNan(T a, T b) {
  return (wide(a) != wide(a)) | (wide(b) != wide(b)) ? quietNan<T>() : minimumNumber(a, b);
}
template <class T> inline T maximumOrNan(T a, T b) {
  return (wide(a) != wide(a)) | (wide(b) != wide(b)) ? quietNan<T>() : maximumNumber(a, b);
}

/// To an integral number, ties away from zero.
template <class F> inline F roundAway(F x) {
  F whole = std::trunc(x), rest = x - whole;
  F next = std::fabs(rest) >= F(0.5) ? whole + std::copysign(F(1), x) : whole;
  return std::copysign(next, x);
}

/// a * b + c, rounded once.
template <class T> inline T fused(T a, T b, T c) {
  if constexpr (isNarrowFloat<T>) {
    double product = double(wide(a)) * double(wide(b));
    return T(floatToOdd(addToOdd(product, double(wide(c)))));
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_fmaf(a, b, c);
  } else {
    return __builtin_fma(a, b, c);
  }
}

/// Into [0, 1]; a NaN becomes 0.
template <class T> inline T saturated(T a) {
  Wide<T> x = wide(a);
  return x > 0 ? (x > 1 ? T(Wide<T>(1)) : a) : T(Wide<T>(0));
}
/// Denormal numbers become zeros of their sign.
inline float flushed(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x), magnitude = bits & 0x7fffffffu;
  return std::bit_cast<float>(magnitude < 0x00800000u ? bits & 0x80000000u : bits);
}
template <class T> inline T flushedTo(T a) {
  if constexpr (std::is_same_v<T, float>)
    return flushed(a);
  else if constexpr (std::is_same_v<T, F16>)
    return fromBits<F16>((a.bits & 0x7c00u) ? a.bits : static_cast<uint16_t>(a.bits & 0x8000u));
  else if constexpr (std::is_same_v<T, BF16>)
    return fromBits<BF16>((a.bits & 0x7f80u) ? a.bits : static_cast<uint16_t>(a.bits & 0x8000u));
  else
    return a;
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_MATHLANES_H
