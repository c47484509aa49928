// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The simulator's conversions of narrow floats, for every code of every format and around every boundary between two
// numbers, against the definition of each rounding mode; and f16 against the compiler's own type.

#include "core/NarrowFloat.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace tilejit::sim::test {

namespace {

struct Named {
  const char *name;
  const FloatFormat &format;
};
const Named formats[] = {
    {"f16", formatF16},   {"bf16", formatBf16},         {"e5m2", formatE5m2},
    {"e4m3", formatE4m3}, {"e5m2fnuz", formatE5m2Fnuz}, {"e4m3fnuz", formatE4m3Fnuz},
    {"e3m2", formatE3m2}, {"e2m3", formatE2m3},         {"e2m1", formatE2m1},
};
const Rounding modes[] = {Rounding::Nearest, Rounding::Zero, Rounding::Up, Rounding::Down, Rounding::Away};

/// Which of two neighbours of a positive format a magnitude between them becomes. `odd`: the lower one's code is odd.
bool takesUpper(double low, double high, double x, bool odd, bool negative, Rounding mode) {
  double middle = (low + high) / 2;
  switch (mode) {
  case Rounding::Nearest:
    return x > middle || (x == middle && odd);
  case Rounding::Away:
    return x >= middle;
  case Rounding::Up:
    return !negative;
  case Rounding::Down:
    return negative;
  default:
    return false;
  }
}

} // namespace

TEST_CASE("every code of every narrow format survives", "[simulator][narrow]") {
  for (const Named &named : formats) {
    INFO(named.name);
    for (uint32_t code = 0; code < 1u << named.format.bits(); ++code) {
      double value = decodeFloat(named.format, code);
      if (std::isnan(value))
        continue;
      for (Rounding mode : modes)
        REQUIRE(encodeFloat(named.format, value, mode) == code);
    }
  }
}

TEST_CASE("known numbers of the narrow formats", "[simulator][narrow]") {
  CHECK(decodeFloat(formatE4m3, 0x7e) == 448);
  CHECK(std::isnan(decodeFloat(formatE4m3, 0x7f)));
  CHECK(std::isnan(decodeFloat(formatE4m3, 0xff)));
  CHECK(decodeFloat(formatE5m2, 0x7b) == 57344);
  CHECK(std::isinf(decodeFloat(formatE5m2, 0x7c)));
  CHECK(decodeFloat(formatE4m3Fnuz, 0x7f) == 240);
  CHECK(std::isnan(decodeFloat(formatE4m3Fnuz, 0x80)));
  CHECK(decodeFloat(formatE5m2Fnuz, 0x7f) == 57344);
  CHECK(decodeFloat(formatE2m1, 7) == 6);
  CHECK(decodeFloat(formatE2m3, 31) == 7.5);
  CHECK(decodeFloat(formatE3m2, 31) == 28);
  CHECK(decodeFloat(formatE4m3, 1) == 0x1p-9);
  CHECK(decodeFloat(formatF16, 0x7bff) == 65504);
  CHECK(decodeFloat(formatBf16, 0x3f80) == 1);
  CHECK(decodeE8m0(127) == 1);
  CHECK(encodeE8m0(3, Rounding::Up, true) == 129);
  CHECK(encodeE8m0(3, Rounding::Zero, true) == 128);
  CHECK(encodeE8m0(NAN, Rounding::Zero, true) == 255);
  CHECK(encodeFloat(formatE4m3, 1e9) == 0x7f);
  CHECK(encodeFloat(formatE4m3, 1e9, Rounding::Nearest, true) == 0x7e);
  CHECK(encodeFloat(formatE4m3, -INFINITY, Rounding::Nearest, true) == 0xfe);
  CHECK(encodeFloat(formatE5m2, 1e9) == 0x7c);
  CHECK(encodeFloat(formatE5m2, 1e9, Rounding::Zero) == 0x7b);
  CHECK(encodeFloat(formatE5m2, -1e9, Rounding::Up) == 0xfb);
  CHECK(encodeFloat(formatE2m1, NAN) == 7);
  CHECK(encodeFloat(formatE4m3Fnuz, -0.0) == 0);
}

TEST_CASE("numbers between two neighbours round as each mode says", "[simulator][narrow]") {
  for (const Named &named : formats) {
    INFO(named.name);
    uint32_t step = named.format.bits() > 8 ? 7 : 1; // Every seventh of the 16-bit ones.
    for (uint32_t code = 0; code < named.format.maxFinite(); code += step) {
      double low = decodeFloat(named.format, code), high = decodeFloat(named.format, code + 1);
      double middle = (low + high) / 2;
      for (double x : {std::nextafter(low, HUGE_VAL), std::nextafter(middle, 0.0), middle,
                       std::nextafter(middle, HUGE_VAL), std::nextafter(high, 0.0)})
        for (Rounding mode : modes)
          for (bool negative : {false, true}) {
            bool upper = takesUpper(low, high, x, code & 1, negative, mode);
            uint32_t expected = code + upper;
            bool signless = named.format.top == FloatFormat::Top::MinusNan && expected == 0;
            if (negative && !signless)
              expected |= named.format.signBit();
            REQUIRE(encodeFloat(named.format, negative ? -x : x, mode) == expected);
          }
    }
  }
}

TEST_CASE("the quick conversions of f16 and bf16 agree with the general ones", "[simulator][narrow]") {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    auto half = static_cast<uint16_t>(code);
    double f16 = decodeFloat(formatF16, code), bf16 = decodeFloat(formatBf16, code);
    REQUIRE((std::isnan(f16) ? std::isnan(f16ToFloat(half)) : f16ToFloat(half) == f16));
    REQUIRE((std::isnan(bf16) ? std::isnan(bf16ToFloat(half)) : bf16ToFloat(half) == bf16));
    REQUIRE(std::bit_cast<uint16_t>(static_cast<_Float16>(f16ToFloat(half))) ==
            (std::isnan(f16) ? half | 0x200 : half));
    if (std::isnan(f16) || std::isinf(f16))
      continue;
    // Around the number and the middle to its neighbour.
    float low = f16ToFloat(half), high = f16ToFloat(static_cast<uint16_t>(half + 1));
    float middle = low + (high - low) / 2;
    for (float x : {low, std::nextafterf(middle, 0), middle, std::nextafterf(middle, INFINITY), 1.5f * low}) {
      REQUIRE(floatToF16(x) == encodeFloat(formatF16, x));
      REQUIRE(floatToF16(x) == std::bit_cast<uint16_t>(static_cast<_Float16>(x)));
    }
  }
  uint32_t bits = 1;
  for (int i = 0; i < 1000000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    auto x = std::bit_cast<float>(bits);
    if (std::isnan(x))
      continue;
    REQUIRE(floatToBf16(x) == encodeFloat(formatBf16, x));
    REQUIRE(floatToF16(x) == encodeFloat(formatF16, x));
  }
}

TEST_CASE("rounding to odd leaves the second rounding right", "[simulator][narrow]") {
  // 1 + 2^-11 is the middle between two f16; a little more must go up although f32 can't hold the rest.
  double middle = 1 + 0x1p-11;
  CHECK(floatToF16(floatToOdd(middle)) == 0x3c00);
  CHECK(floatToF16(floatToOdd(middle + 0x1p-40)) == 0x3c01);
  CHECK(floatToF16(floatToOdd(middle - 0x1p-40)) == 0x3c00);
  CHECK(floatToF16(floatToOdd(addToOdd(middle, 0x1p-80))) == 0x3c01);
  CHECK(floatToF16(floatToOdd(addToOdd(middle, -0x1p-80))) == 0x3c00);
  CHECK(floatToF16(floatToOdd(addToOdd(-middle, -0x1p-80))) == 0xbc01);
  CHECK(roundToFloat(1 + 0x1p-30, Rounding::Up) == 1 + 0x1p-23f);
  CHECK(roundToFloat(-1 - 0x1p-30, Rounding::Up) == -1.0f);
  CHECK(roundToFloat(0x1p-200, Rounding::Up) == 0x1p-149f);
  CHECK(roundToFloat(1e300, Rounding::Zero) == 0x1.fffffep127f);
  CHECK(roundToFloat(1e300, Rounding::Up) == INFINITY);
}

TEST_CASE("tables of 8-bit numbers hold what the codes say", "[simulator][narrow]") {
  for (const Named &named : formats) {
    const float *table = decodeTable(named.format);
    if (named.format.bits() > 8) {
      CHECK(table == nullptr);
      continue;
    }
    REQUIRE(table);
    for (uint32_t code = 0; code < 1u << named.format.bits(); ++code) {
      double value = decodeFloat(named.format, code);
      REQUIRE((std::isnan(value) ? std::isnan(table[code]) : table[code] == value));
    }
  }
}

} // namespace tilejit::sim::test
