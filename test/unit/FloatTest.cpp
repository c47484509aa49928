// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions between doubles, integers and every element type: all codes, ties, borders of the ranges.

#include "tilejit/Base/Float.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace tilejit;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double notANumber = std::numeric_limits<double>::quiet_NaN();

std::vector<DType> narrowFloats() {
  std::vector<DType> types;
  for (DType dtype : allDTypes())
    if (isFloat(dtype) && bitWidth(dtype) <= 16)
      types.push_back(dtype);
  return types;
}

} // namespace

TEST_CASE("every code of a narrow format survives decoding and encoding") {
  for (DType dtype : narrowFloats()) {
    INFO(dtypeName(dtype));
    for (uint64_t code = 0; code < uint64_t{1} << bitWidth(dtype); ++code) {
      double value = decodeFloat(code, dtype);
      if (std::isnan(value))
        CHECK(std::isnan(roundToFloat(value, dtype)));
      else
        CHECK(encodeFloat(value, dtype) == code);
    }
  }
}

TEST_CASE("values between neighbours go to the nearer one, ties to the even code") {
  for (DType dtype : narrowFloats()) {
    if (dtype == DType::F8E8M0)
      continue; // Has no significand to be even.
    INFO(dtypeName(dtype));
    uint64_t largest = encodeFloat(floatFormat(dtype).largest, dtype);
    for (uint64_t code = 0; code < largest; ++code) {
      double low = decodeFloat(code, dtype), high = decodeFloat(code + 1, dtype), middle = (low + high) / 2;
      CHECK(encodeFloat(middle, dtype) == code + (code & 1));
      CHECK(encodeFloat(std::nextafter(middle, low), dtype) == code);
      CHECK(encodeFloat(std::nextafter(middle, high), dtype) == code + 1);
      if (code > 0)
        CHECK(roundToFloat(-std::nextafter(middle, low), dtype) == -low);
    }
  }
}

TEST_CASE("powers of two round up at the middle") {
  CHECK(decodeFloat(encodeFloat(1.5, DType::F8E8M0), DType::F8E8M0) == 2.0);
  CHECK(decodeFloat(encodeFloat(3.0, DType::F8E8M0), DType::F8E8M0) == 4.0);
  CHECK(decodeFloat(encodeFloat(std::nextafter(1.5, 0), DType::F8E8M0), DType::F8E8M0) == 1.0);
  CHECK(encodeFloat(1e-300, DType::F8E8M0) == 0);
  for (double value : {0.0, -0.0, -1.0, inf, -inf, notANumber, 0x1.8p127})
    CHECK(encodeFloat(value, DType::F8E8M0) == 0xff);
  CHECK(encodeFloat(inf, DType::F8E8M0, true) == 0xfe);
}

TEST_CASE("overflow gives what the format has") {
  CHECK(std::isnan(roundToFloat(464.01, DType::F8E4M3FN)));
  CHECK(roundToFloat(464.0, DType::F8E4M3FN) == 448.0);
  CHECK(roundToFloat(61440.0, DType::F8E5M2) == inf);
  CHECK(roundToFloat(-65520.0, DType::F16) == -inf);
  CHECK(roundToFloat(0x1.ffp127, DType::BF16) == inf);
  CHECK(roundToFloat(1e300, DType::F32) == inf);
  CHECK(std::isnan(roundToFloat(inf, DType::F8E4M3FNUZ)));
  CHECK(encodeFloat(-1e9, DType::F8E5M2FNUZ) == 0x80);
  CHECK(roundToFloat(-1e9, DType::F4E2M1) == -6.0);
  CHECK(encodeFloat(notANumber, DType::F4E2M1) == 8);
  CHECK(encodeFloat(-inf, DType::F8E4M3FN) == 0xff);
}

TEST_CASE("saturation gives the largest finite number, NaN stays") {
  for (DType dtype : allDTypes()) {
    if (!isFloat(dtype))
      continue;
    INFO(dtypeName(dtype));
    double largest = floatFormat(dtype).largest;
    CHECK(roundToFloat(inf, dtype, true) == largest);
    CHECK(roundToFloat(std::numeric_limits<double>::max(), dtype, true) == largest);
    if (dtype != DType::F8E8M0)
      CHECK(roundToFloat(-inf, dtype, true) == -largest);
    if (floatFormat(dtype).hasNan)
      CHECK(std::isnan(roundToFloat(notANumber, dtype, true)));
  }
}

TEST_CASE("formats without negative zero turn it into zero") {
  CHECK(encodeFloat(-0.0, DType::F8E4M3FNUZ) == 0);
  CHECK(encodeFloat(-1e-30, DType::F8E5M2FNUZ) == 0);
  CHECK(encodeFloat(-0.0, DType::F8E4M3FN) == 0x80);
  CHECK(encodeFloat(-1e-30, DType::BF16) != 0);
  CHECK(encodeFloat(-1e-300, DType::BF16) == 0x8000);
}

TEST_CASE("f32 agrees with the processor") {
  uint64_t seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200000; ++i) {
    // Exponents around the range of f32, subnormals and overflow included.
    double value = std::ldexp(1 + std::generate_canonical<double, 53>(random), static_cast<int>(random() % 300) - 160);
    if (random() & 1)
      value = -value;
    float expected = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &expected, 4);
    REQUIRE(encodeFloat(value, DType::F32) == bits);
  }
}

TEST_CASE("floating values go to integers toward zero and saturate") {
  CHECK(floatToInteger(-0.99, DType::I8) == 0);
  CHECK(floatToInteger(127.9, DType::I8) == 127);
  CHECK(floatToInteger(-1e9, DType::I8) == -128);
  CHECK(floatToInteger(-3, DType::U8) == 0);
  CHECK(floatToInteger(7.5, DType::I4) == 7);
  CHECK(floatToInteger(99, DType::U4) == 15);
  CHECK(floatToInteger(inf, DType::I64) == std::numeric_limits<int64_t>::max());
  CHECK(floatToInteger(-inf, DType::I64) == std::numeric_limits<int64_t>::min());
  CHECK(floatToInteger(0x1p63, DType::I64) == std::numeric_limits<int64_t>::max());
  CHECK(floatToInteger(2147483647.5, DType::I32) == 2147483647);
  CHECK(floatToInteger(notANumber, DType::I32) == 0);
  CHECK(floatToInteger(notANumber, DType::Bool) == 1);
  CHECK(floatToInteger(-0.0, DType::Bool) == 0);
  CHECK(floatToInteger(1e-300, DType::Bool) == 1);
}

TEST_CASE("integers wrap") {
  CHECK(wrapInteger(128, DType::I8) == -128);
  CHECK(wrapInteger(-1, DType::U8) == 255);
  CHECK(wrapInteger(8, DType::I4) == -8);
  CHECK(wrapInteger(-9, DType::I4) == 7);
  CHECK(wrapInteger(-1, DType::U4) == 15);
  CHECK(wrapInteger(int64_t{1} << 32 | 5, DType::I32) == 5);
  CHECK(wrapInteger(256, DType::Bool) == 1);
}

TEST_CASE("wide integers reach f32 with one rounding") {
  // Just above the middle between two f32 numbers, by less than a double can say.
  int64_t value = (int64_t{1} << 62) + (int64_t{1} << 38) + 1;
  CHECK(roundToFloat(integerToFloat(value, DType::F32), DType::F32) == 0x1.000002p62);
  CHECK(roundToFloat(integerToFloat(value - 1, DType::F32), DType::F32) == 0x1p62);
  CHECK(integerToFloat(std::numeric_limits<int64_t>::min(), DType::F32) == -0x1p63);
  CHECK(integerToFloat(-12345, DType::F16) == -12345);
}

TEST_CASE("arrays convert like single values") {
  uint64_t seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (DType from : allDTypes())
    for (DType to : allDTypes()) {
      INFO(dtypeName(from) << " to " << dtypeName(to));
      size_t count = 1500, fromBytes = storageBytes(from), toBytes = storageBytes(to);
      std::vector<unsigned char> source(count * fromBytes), target(count * toBytes);
      for (size_t i = 0; i < count; ++i)
        if (isFloat(from))
          storeDouble(&source[i * fromBytes], from, std::ldexp(1.0 + (random() & 255), int(random() % 40) - 20));
        else
          storeInteger(&source[i * fromBytes], from, static_cast<int64_t>(random()));
      convertElements(source.data(), from, target.data(), to, count);
      for (size_t i : {size_t{0}, count / 2, count - 1}) {
        std::vector<unsigned char> one(toBytes);
        if (isFloat(from))
          storeDouble(one.data(), to, loadAsDouble(&source[i * fromBytes], from));
        else
          storeInteger(one.data(), to, loadAsInteger(&source[i * fromBytes], from));
        CHECK(std::memcmp(one.data(), &target[i * toBytes], toBytes) == 0);
      }
    }
}

TEST_CASE("unit and distance of neighbours") {
  CHECK(unitRoundoff(DType::F32) == 0x1p-24);
  CHECK(ulpAt(1.0, DType::F32) == 0x1p-23);
  CHECK(ulpAt(1.999, DType::F32) == 0x1p-23);
  CHECK(ulpAt(-2.0, DType::BF16) == 0x1p-6);
  CHECK(ulpAt(0.0, DType::F16) == 0x1p-24);
}
