// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Facts of the floating formats, and conversions of one value between a double and its bits in each of them.

#include "tilejit/Base/Float.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace tilejit {
namespace {

/// A format whose bits are sign, exponent, fraction; f8e8m0 is none and goes its own way.
struct Layout {
  FloatFormat format;
  int bits;
  uint64_t largestCode; ///< Bits of the largest finite number.
  uint64_t overflow;    ///< Bits of what overflow gives, without a sign.
  uint64_t nan;         ///< Bits of NaN, without a sign.
  bool signedNan;
};

constexpr double f32Largest = 0x1.fffffep127;
constexpr double bf16Largest = 0x1.fep127;

/// In the order of DType, from f64 to f4e2m1.
constexpr Layout layouts[] = {
    {{53, -1022, 0x1.fffffffffffffp1023, 0x1p-1074, true, true, true},
     64,
     0x7fefffffffffffff,
     0x7ff0000000000000,
     0x7ff8000000000000,
     true},
    {{24, -126, f32Largest, 0x1p-149, true, true, true}, 32, 0x7f7fffff, 0x7f800000, 0x7fc00000, true},
    {{11, -14, 65504.0, 0x1p-24, true, true, true}, 16, 0x7bff, 0x7c00, 0x7e00, true},
    {{8, -126, bf16Largest, 0x1p-133, true, true, true}, 16, 0x7f7f, 0x7f80, 0x7fc0, true},
    {{4, -6, 448.0, 0x1p-9, false, true, true}, 8, 0x7e, 0x7f, 0x7f, true},
    {{3, -14, 57344.0, 0x1p-16, true, true, true}, 8, 0x7b, 0x7c, 0x7e, true},
    {{4, -7, 240.0, 0x1p-10, false, true, false}, 8, 0x7f, 0x80, 0x80, false},
    {{3, -15, 57344.0, 0x1p-17, false, true, false}, 8, 0x7f, 0x80, 0x80, false},
    {{1, -127, 0x1p127, 0x1p-127, false, true, false}, 8, 0xfe, 0xff, 0xff, false},
    {{2, 0, 6.0, 0.5, false, false, true}, 4, 0x7, 0x7, 0x0, true},
};

const Layout &layoutOf(DType dtype) {
  assert(isFloat(dtype) && "only floating types have a layout");
  return layouts[static_cast<size_t>(dtype)];
}

uint64_t encodePowerOfTwo(double value) {
  if (std::isnan(value) || value <= 0 || std::isinf(value))
    return 0xff;
  int exponent;
  double fraction = std::frexp(value, &exponent); // In [0.5, 1).
  int code = exponent - 1 + 127 + (fraction >= 0.75 ? 1 : 0);
  return code < 0 ? 0 : code > 0xfe ? 0xff : static_cast<uint64_t>(code);
}

/// Magnitude bits of a finite value, rounded to nearest even; may exceed the largest code.
uint64_t roundMagnitude(uint64_t doubleBits, const Layout &layout) {
  int exponent = static_cast<int>(doubleBits >> 52 & 0x7ff) - 1023;
  uint64_t significand = (doubleBits & 0xfffffffffffff) | uint64_t{1} << 52;
  if (exponent == -1023)
    return 0; // Zero, or a subnormal double, which is far below half of any narrower format's smallest number.
  int precision = layout.format.precision;
  int below = exponent < layout.format.minExponent ? layout.format.minExponent - exponent : 0;
  int shift = 53 - precision + below;
  if (shift > 54)
    return 0;
  uint64_t quotient = significand >> shift;
  uint64_t rest = significand & ((uint64_t{1} << shift) - 1), half = uint64_t{1} << (shift - 1);
  quotient += rest > half || (rest == half && (quotient & 1));
  if (below)
    return quotient; // A carry out of the subnormals is the code of the smallest normal number.
  uint64_t biased = static_cast<uint64_t>(exponent - layout.format.minExponent);
  return (biased << (precision - 1)) + quotient;
}

uint64_t withSign(uint64_t magnitude, bool negative, const Layout &layout) {
  if (magnitude == 0 && !layout.format.hasNegativeZero)
    return 0;
  return magnitude | (negative ? uint64_t{1} << (layout.bits - 1) : 0);
}

double decodeFields(uint64_t bits, const Layout &layout) {
  int fractionBits = layout.format.precision - 1;
  uint64_t magnitude = bits & ((uint64_t{1} << (layout.bits - 1)) - 1);
  bool negative = bits >> (layout.bits - 1) & 1;
  double value;
  if (!layout.format.hasNegativeZero && magnitude == 0 && negative)
    return std::numeric_limits<double>::quiet_NaN();
  if (magnitude > layout.largestCode)
    value = layout.format.hasInfinity && magnitude == layout.overflow ? std::numeric_limits<double>::infinity()
                                                                      : std::numeric_limits<double>::quiet_NaN();
  else if (uint64_t exponent = magnitude >> fractionBits; exponent == 0)
    value = static_cast<double>(magnitude) * layout.format.smallest;
  else
    value =
        std::ldexp(static_cast<double>((magnitude & ((uint64_t{1} << fractionBits) - 1)) | uint64_t{1} << fractionBits),
                   static_cast<int>(exponent) - 1 + layout.format.minExponent - fractionBits);
  return negative ? -value : value;
}

} // namespace

const FloatFormat &floatFormat(DType dtype) { return layoutOf(dtype).format; }

double unitRoundoff(DType dtype) { return std::ldexp(1.0, -floatFormat(dtype).precision); }

double ulpAt(double value, DType dtype) {
  const FloatFormat &format = floatFormat(dtype);
  int exponent = format.minExponent;
  if (value != 0)
    exponent = std::max(exponent, std::ilogb(value));
  return std::ldexp(1.0, exponent - format.precision + 1);
}

uint64_t encodeFloat(double value, DType dtype, bool saturate) {
  if (dtype == DType::F64)
    return std::bit_cast<uint64_t>(saturate && std::isinf(value) ? std::copysign(layouts[0].format.largest, value)
                                                                 : value);
  const Layout &layout = layoutOf(dtype);
  bool negative = std::signbit(value);
  if (dtype == DType::F8E8M0)
    return saturate && value > layout.format.largest ? layout.largestCode : encodePowerOfTwo(value);
  if (std::isnan(value)) {
    if (!layout.format.hasNan)
      return withSign(0, !negative, layout);
    return layout.signedNan ? withSign(layout.nan, negative, layout) : layout.nan;
  }
  uint64_t magnitude =
      std::isinf(value) ? layout.largestCode + 1 : roundMagnitude(std::bit_cast<uint64_t>(value), layout);
  if (magnitude <= layout.largestCode)
    return withSign(magnitude, negative, layout);
  if (saturate)
    return withSign(layout.largestCode, negative, layout);
  // The fnuz formats have one NaN, whose bits are the sign alone.
  return layout.signedNan ? withSign(layout.overflow, negative, layout) : layout.overflow;
}

double decodeFloat(uint64_t bits, DType dtype) {
  if (dtype == DType::F64)
    return std::bit_cast<double>(bits);
  if (dtype == DType::F32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (dtype == DType::F8E8M0)
    return (bits & 0xff) == 0xff ? std::numeric_limits<double>::quiet_NaN()
                                 : std::ldexp(1.0, static_cast<int>(bits & 0xff) - 127);
  return decodeFields(bits, layoutOf(dtype));
}

double roundToFloat(double value, DType dtype, bool saturate) {
  if (dtype == DType::F64 && !saturate)
    return value;
  if (dtype == DType::F32 && !saturate)
    return static_cast<float>(value);
  const FloatFormat &format = floatFormat(dtype);
  double magnitude = std::fabs(value);
  if (format.precision == 1 || format.precision == 53 ||
      !(magnitude >= std::bit_cast<double>(static_cast<uint64_t>(format.minExponent + 1023) << 52) &&
        magnitude <= format.largest))
    return decodeFloat(encodeFloat(value, dtype, saturate), dtype);
  // Within the normal range one addition to the bits rounds, and can't leave the range.
  int shift = 53 - format.precision;
  auto bits = std::bit_cast<uint64_t>(value);
  bits += (uint64_t{1} << (shift - 1)) - 1 + (bits >> shift & 1);
  return std::bit_cast<double>(bits >> shift << shift);
}

int64_t floatToInteger(double value, DType dtype) {
  if (dtype == DType::Bool)
    return value != 0; // True for NaN.
  if (std::isnan(value))
    return 0;
  int64_t low = minValue(dtype), high = maxValue(dtype);
  // The first double beyond the range is exact, also for i64, whose largest value is none.
  if (value >= static_cast<double>(high))
    return high;
  if (value <= static_cast<double>(low))
    return low;
  return static_cast<int64_t>(value);
}

int64_t wrapInteger(int64_t value, DType dtype) {
  switch (dtype) {
  case DType::I64:
    return value;
  case DType::I32:
    return static_cast<int32_t>(value);
  case DType::I16:
    return static_cast<int16_t>(value);
  case DType::I8:
    return static_cast<int8_t>(value);
  case DType::U8:
    return static_cast<uint8_t>(value);
  case DType::I4:
    return static_cast<int8_t>(static_cast<uint8_t>(value) << 4) >> 4;
  case DType::U4:
    return value & 15;
  default:
    return value != 0;
  }
}

double integerToFloat(int64_t value, DType dtype) {
  double nearest = static_cast<double>(value);
  constexpr int64_t exactLimit = int64_t{1} << 53;
  if (dtype == DType::F64 || (value >= -exactLimit && value <= exactLimit))
    return nearest;
  // Round to odd: toward zero, with the last bit set where something was lost. A later rounding to fewer bits then
  // sees on which side of a tie the integer was.
  bool negative = value < 0;
  uint64_t magnitude = negative ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  int drop = 11 - std::countl_zero(magnitude);
  uint64_t kept = magnitude >> drop;
  kept |= (magnitude & ((uint64_t{1} << drop) - 1)) != 0;
  double result = std::ldexp(static_cast<double>(kept), drop);
  return negative ? -result : result;
}

} // namespace tilejit
