// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Floating-point formats of 4 to 16 bits, exactly: every conversion rounds once, in each rounding mode. Conversions of
// f16 and bf16 are free of branches, so that loops over lanes become vector code; the others are for any format that
// FloatFormat can describe.

#ifndef TILEJIT_SIMULATOR_CORE_NARROWFLOAT_H
#define TILEJIT_SIMULATOR_CORE_NARROWFLOAT_H

#include <bit>
#include <cstdint>

namespace tilejit::sim {

enum class Rounding : uint8_t {
  Nearest, ///< Ties to even.
  Zero,
  Up,
  Down,
  Away, ///< To nearest, ties away from zero.
};

/// A format of sign, exponent and mantissa, or the unsigned exponent-only e8m0.
struct FloatFormat {
  /// What the largest codes mean.
  enum class Top : uint8_t {
    Ieee,     ///< Exponent all ones: infinity and NaNs.
    OneNan,   ///< All ones is NaN; no infinity (e4m3).
    MinusNan, ///< "Minus zero" is the only NaN; no infinity (fnuz).
    Finite,   ///< Neither.
  };
  uint8_t exponentBits, mantissaBits;
  int16_t bias;
  Top top;

  constexpr unsigned bits() const { return 1u + exponentBits + mantissaBits; }
  constexpr uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
  constexpr uint32_t nan() const {
    switch (top) {
    case Top::Ieee:
      return (((1u << exponentBits) - 1) << mantissaBits) | (1u << (mantissaBits - 1));
    case Top::OneNan:
      return signBit() - 1;
    case Top::MinusNan:
      return signBit();
    default:
      return maxFinite();
    }
  }
  constexpr uint32_t infinity() const { return ((1u << exponentBits) - 1) << mantissaBits; }
  constexpr uint32_t maxFinite() const {
    return top == Top::Ieee ? infinity() - 1 : top == Top::OneNan ? signBit() - 2 : signBit() - 1;
  }
};

inline constexpr FloatFormat formatF32{8, 23, 127, FloatFormat::Top::Ieee};
inline constexpr FloatFormat formatTf32{8, 10, 127, FloatFormat::Top::Ieee};
inline constexpr FloatFormat formatF16{5, 10, 15, FloatFormat::Top::Ieee};
inline constexpr FloatFormat formatBf16{8, 7, 127, FloatFormat::Top::Ieee};
inline constexpr FloatFormat formatE5m2{5, 2, 15, FloatFormat::Top::Ieee};
inline constexpr FloatFormat formatE4m3{4, 3, 7, FloatFormat::Top::OneNan};
inline constexpr FloatFormat formatE5m2Fnuz{5, 2, 16, FloatFormat::Top::MinusNan};
inline constexpr FloatFormat formatE4m3Fnuz{4, 3, 8, FloatFormat::Top::MinusNan};
inline constexpr FloatFormat formatE3m2{3, 2, 3, FloatFormat::Top::Finite};
inline constexpr FloatFormat formatE2m3{2, 3, 1, FloatFormat::Top::Finite};
inline constexpr FloatFormat formatE2m1{2, 1, 1, FloatFormat::Top::Finite};

/// The code of a number. Too large ones become infinity (NaN where there is none), or the largest finite number if
/// `saturate` holds (infinity too) or the rounding mode points away from infinity. A NaN of a format without NaN
/// becomes the largest number.
uint32_t encodeFloat(const FloatFormat &format, double value, Rounding rounding = Rounding::Nearest,
                     bool saturate = false);
/// The number behind a code; exact.
double decodeFloat(const FloatFormat &format, uint32_t code);
/// All 256 (or fewer) numbers of a format of at most 8 bits, as one of the constants above.
const float *decodeTable(const FloatFormat &format);

/// e8m0: the powers of two from 2^-127 to 2^127; 255 is NaN. Negative numbers lose their sign.
uint32_t encodeE8m0(double value, Rounding rounding, bool saturate);
double decodeE8m0(uint32_t code);

/// A double as f32 in a rounding mode.
float roundToFloat(double value, Rounding rounding);

// --- f16 and bf16 as types -----------------------------------------------------------------------------------------

inline float f16ToFloat(uint16_t half) {
  uint32_t magnitude = half & 0x7fffu;
  // Exponents are re-biased by a multiplication, which makes denormal numbers normal ones too.
  float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  uint32_t special = 0x7f800000u | (magnitude << 13);
  uint32_t bits = magnitude >= 0x7c00u ? special : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | (half & 0x8000u) << 16);
}

inline uint16_t floatToF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1)) >> 13;
  // Adding a number whose last place is 2^-24 rounds to the denormal numbers of f16.
  uint32_t tiny = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
  uint32_t special = magnitude > 0x7f800000u ? 0x7e00u | (magnitude >> 13 & 0x3ffu) : 0x7c00u;
  uint32_t finite = magnitude < (113u << 23) ? tiny : normal;
  return static_cast<uint16_t>(sign | (magnitude >= 0x477ff000u ? special : finite));
}

inline float bf16ToFloat(uint16_t half) { return std::bit_cast<float>(uint32_t(half) << 16); }

inline uint16_t floatToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : rounded);
}

/// Lanes of kind F16 and BF16. Arithmetic happens in f32: for + - * / and square roots of operands this short, rounding
/// to f32 first changes nothing (f32 has more than twice their bits and two more).
struct F16 {
  uint16_t bits = 0;
  F16() = default;
  explicit F16(float value) : bits(floatToF16(value)) {}
  explicit operator float() const { return f16ToFloat(bits); }
  static constexpr const FloatFormat &format = formatF16;
};
struct BF16 {
  uint16_t bits = 0;
  BF16() = default;
  explicit BF16(float value) : bits(floatToBf16(value)) {}
  explicit operator float() const { return bf16ToFloat(bits); }
  static constexpr const FloatFormat &format = formatBf16;
};

// --- Rounding to odd -----------------------------------------------------------------------------------------------
// A result rounded to odd (inexact ones get an odd last place) can be rounded once more, in any mode, to a format with
// two fewer bits, as if it had been exact.

/// `value` is off from the true one by something with the sign of `error`.
inline double toOdd(double value, double error) {
  auto bits = std::bit_cast<uint64_t>(value);
  uint64_t step = (error > 0) == (bits >> 63 == 0) ? 1 : ~uint64_t(0);
  bool adjust = (bits & 1) == 0 && (error > 0 || error < 0);
  return std::bit_cast<double>(bits + (adjust ? step : 0));
}
inline double addToOdd(double a, double b) {
  double sum = a + b, back = sum - a;
  return toOdd(sum, (a - (sum - back)) + (b - back));
}
/// A double as f32, rounded to odd: may be rounded to f16 or bf16 afterwards.
inline float floatToOdd(double value) {
  auto nearest = static_cast<float>(value);
  double error = value - static_cast<double>(nearest);
  auto bits = std::bit_cast<uint32_t>(nearest);
  uint32_t step = (error > 0) == (bits >> 31 == 0) ? 1 : ~uint32_t(0);
  bool adjust = (bits & 1) == 0 && (error > 0 || error < 0);
  return std::bit_cast<float>(bits + (adjust ? step : 0));
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_NARROWFLOAT_H
