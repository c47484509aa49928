// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions to and from formats that are described by data. One number at a time.

#include "core/NarrowFloat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tilejit::sim {

namespace {

/// Whether a magnitude between two neighbours goes up. `odd`: the lower one has an odd last place.
bool roundsUp(double fraction, bool odd, bool negative, Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return fraction > 0.5 || (fraction == 0.5 && odd);
  case Rounding::Away:
    return fraction >= 0.5;
  case Rounding::Up:
    return fraction > 0 && !negative;
  case Rounding::Down:
    return fraction > 0 && negative;
  case Rounding::Zero:
    break;
  }
  return false;
}

std::array<float, 256> makeTable(const FloatFormat &format) {
  std::array<float, 256> table{};
  for (uint32_t code = 0; code < 1u << format.bits(); ++code)
    table[code] = static_cast<float>(decodeFloat(format, code));
  return table;
}

} // namespace

uint32_t encodeFloat(const FloatFormat &format, double value, Rounding rounding, bool saturate) {
  bool negative = std::signbit(value);
  if (std::isnan(value))
    return format.nan();
  uint32_t sign = negative ? format.signBit() : 0;
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return format.top == FloatFormat::Top::MinusNan ? 0 : sign;
  uint32_t most = format.maxFinite();
  bool over = std::isinf(magnitude);
  uint32_t code = most;
  if (!over) {
    int lowest = 1 - format.bias, exponent = std::max(std::ilogb(magnitude), lowest);
    if (exponent - lowest >= 1 << format.exponentBits) {
      over = true;
    } else {
      double scaled = std::ldexp(magnitude, format.mantissaBits - exponent), whole = std::floor(scaled);
      auto mantissa = static_cast<uint64_t>(whole);
      mantissa += roundsUp(scaled - whole, mantissa & 1, negative, rounding);
      // The leading one of a normal number adds one to the exponent field, as it should.
      uint64_t wide = (uint64_t(exponent - lowest) << format.mantissaBits) + mantissa;
      over = wide > most;
      code = static_cast<uint32_t>(wide);
    }
  }
  if (over) {
    bool clamps = rounding == Rounding::Zero || rounding == (negative ? Rounding::Up : Rounding::Down);
    if (saturate || (clamps && !std::isinf(magnitude)))
      code = most;
    else if (format.top == FloatFormat::Top::Ieee)
      code = format.infinity();
    else
      return format.top == FloatFormat::Top::Finite ? most | sign : format.nan() | sign;
  }
  return code == 0 && format.top == FloatFormat::Top::MinusNan ? 0 : code | sign;
}

double decodeFloat(const FloatFormat &format, uint32_t code) {
  bool negative = code & format.signBit();
  uint32_t magnitude = code & (format.signBit() - 1);
  if (format.top == FloatFormat::Top::MinusNan
          ? code == format.signBit()
          : format.top != FloatFormat::Top::Finite && magnitude > format.maxFinite())
    return format.top == FloatFormat::Top::Ieee && magnitude == format.infinity()
               ? (negative ? -HUGE_VAL : HUGE_VAL)
               : std::numeric_limits<double>::quiet_NaN();
  uint32_t exponent = magnitude >> format.mantissaBits, mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  if (exponent)
    mantissa |= 1u << format.mantissaBits;
  else
    exponent = 1;
  double value = std::ldexp(mantissa, int(exponent) - format.bias - format.mantissaBits);
  return negative ? -value : value;
}

const float *decodeTable(const FloatFormat &format) {
  static const FloatFormat *const formats[] = {&formatE5m2, &formatE4m3, &formatE5m2Fnuz, &formatE4m3Fnuz,
                                               &formatE3m2, &formatE2m3, &formatE2m1};
  static const std::array<std::array<float, 256>, std::size(formats)> tables = [] {
    std::array<std::array<float, 256>, std::size(formats)> made{};
    for (size_t i = 0; i < std::size(formats); ++i)
      made[i] = makeTable(*formats[i]);
    return made;
  }();
  for (size_t i = 0; i < std::size(formats); ++i) {
    const FloatFormat &f = *formats[i];
    if (f.exponentBits == format.exponentBits && f.mantissaBits == format.mantissaBits && f.bias == format.bias &&
        f.top == format.top)
      return tables[i].data();
  }
  return nullptr;
}

uint32_t encodeE8m0(double value, Rounding rounding, bool saturate) {
  constexpr uint32_t nan = 255, most = 254;
  if (std::isnan(value))
    return nan;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return saturate ? most : nan;
  if (magnitude < 0x1p-127)
    return 0;
  int exponent = std::ilogb(magnitude);
  double rest = std::ldexp(magnitude, -exponent);
  bool up = rounding == Rounding::Up ? rest > 1 : rounding == Rounding::Nearest ? rest >= 1.5 : false;
  exponent += up;
  if (exponent > 127)
    return saturate ? most : nan;
  return static_cast<uint32_t>(exponent + 127);
}

double decodeE8m0(uint32_t code) {
  return code == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, int(code) - 127);
}

float roundToFloat(double value, Rounding rounding) {
  if (rounding == Rounding::Nearest || std::isnan(value))
    return static_cast<float>(value);
  return std::bit_cast<float>(encodeFloat(formatF32, value, rounding));
}

} // namespace tilejit::sim
