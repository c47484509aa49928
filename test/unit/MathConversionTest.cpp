// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions of narrow floats against the runtime's own tables: every value of every format, and samples of f32 and
// f64 that lie on and beside the borders between two values.

#include "MathKernel.h"

#include "tilejit/Base/Float.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

using namespace tilejit;
using namespace tilejit::test;

namespace {

struct Narrow {
  DType dtype;
  const char *name; ///< MLIR's.
};
const Narrow narrows[] = {
    {DType::F16, "f16"},
    {DType::BF16, "bf16"},
    {DType::F8E4M3FN, "f8E4M3FN"},
    {DType::F8E5M2, "f8E5M2"},
    {DType::F8E4M3FNUZ, "f8E4M3FNUZ"},
    {DType::F8E5M2FNUZ, "f8E5M2FNUZ"},
    {DType::F8E8M0, "f8E8M0FNU"},
    {DType::F4E2M1, "f4E2M1FN"},
};
const char *const targetNames[] = {"native", "x86-64-v2"};

template <typename T> constexpr const char *floatName = sizeof(T) == 4 ? "f32" : "f64";

std::vector<uint8_t> packed(const std::vector<uint64_t> &codes, int bytes) {
  std::vector<uint8_t> memory;
  for (uint64_t code : codes)
    for (int i = 0; i < bytes; ++i)
      memory.push_back(static_cast<uint8_t>(code >> (8 * i)));
  return memory;
}

template <typename T> void checkExtension(const Narrow &type, const TargetSpec &target) {
  INFO(type.name << " to " << floatName<T> << " on " << target.name);
  MathKernel kernel({"%r = arith.extf %x : $in to $out", type.name, floatName<T>, 16}, target);
  INFO(kernel.error());
  REQUIRE(kernel.ok());
  std::vector<uint64_t> codes;
  for (uint64_t code = 0; code < (uint64_t{1} << bitWidth(type.dtype)); ++code)
    codes.push_back(code);
  std::vector<uint8_t> memory = packed(codes, storageBytes(type.dtype));
  std::vector<T> result(codes.size());
  kernel.run(memory.data(), memory.data(), result.data(), static_cast<int64_t>(codes.size()));
  int wrong = 0;
  for (uint64_t code : codes) {
    double wanted = decodeFloat(code, type.dtype);
    T got = result[code];
    bool same = std::isnan(wanted) ? std::isnan(got) : got == wanted && std::signbit(got) == std::signbit(wanted);
    if (!same && ++wrong <= 3)
      FAIL_CHECK("code " << code << ": wanted " << wanted << ", got " << got);
  }
}

/// Values of the narrow type, the borders between neighbours, and what lies beside both.
template <typename T> std::vector<T> borderSamples(DType dtype, std::mt19937_64 &random) {
  using Int = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::vector<T> values;
  uint64_t codes = uint64_t{1} << bitWidth(dtype);
  for (uint64_t code = 0; code < codes; ++code) {
    double value = decodeFloat(code, dtype), next = decodeFloat((code + 1) % codes, dtype);
    for (double sample : {value, value + (next - value) / 2, next * 1.25}) {
      T at = static_cast<T>(sample);
      values.insert(values.end(), {at, std::nextafter(at, T(0)), std::nextafter(at, 2 * at)});
    }
  }
  for (int i = 0; i < 1 << 15; ++i)
    values.push_back(std::bit_cast<T>(static_cast<Int>(random())));
  values.resize((values.size() + 15) / 16 * 16);
  return values;
}

template <typename T> void checkTruncation(const Narrow &type, const TargetSpec &target) {
  uint64_t seed = std::random_device()();
  INFO(floatName<T> << " to " << type.name << " on " << target.name << ", seed " << seed);
  MathKernel kernel({"%r = arith.truncf %x : $in to $out", floatName<T>, type.name, 16}, target);
  INFO(kernel.error());
  REQUIRE(kernel.ok());
  std::mt19937_64 random(seed);
  std::vector<T> values = borderSamples<T>(type.dtype, random);
  int bytes = storageBytes(type.dtype);
  std::vector<uint8_t> result(values.size() * static_cast<size_t>(bytes));
  kernel.run(values.data(), values.data(), result.data(), static_cast<int64_t>(values.size()));
  int wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t got = 0;
    for (int b = 0; b < bytes; ++b)
      got |= uint64_t{result[i * bytes + b]} << (8 * b);
    uint64_t wanted = encodeFloat(values[i], type.dtype);
    bool bothNaN = std::isnan(decodeFloat(got, type.dtype)) && std::isnan(decodeFloat(wanted, type.dtype));
    if (got != wanted && !bothNaN && ++wrong <= 3)
      FAIL_CHECK(values[i] << ": wanted code " << wanted << ", got " << got);
  }
}

} // namespace

TEST_CASE("every narrow value widens exactly") {
  for (const char *name : targetNames)
    for (const Narrow &type : narrows) {
      auto target = parseTarget(name);
      REQUIRE(target);
      if (!runsOnHost(*target))
        continue;
      checkExtension<float>(type, *target);
      checkExtension<double>(type, *target);
    }
}

TEST_CASE("f32 and f64 round once to every narrow type") {
  for (const char *name : targetNames)
    for (const Narrow &type : narrows) {
      auto target = parseTarget(name);
      REQUIRE(target);
      if (!runsOnHost(*target))
        continue;
      checkTruncation<float>(type, *target);
      checkTruncation<double>(type, *target);
    }
}

TEST_CASE("integers of 64 bits round once to narrow types") {
  uint64_t seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<int64_t> values = {0, 1, -1, INT64_MAX, INT64_MIN, 65519, 65520, 2049, -2051};
  while (values.size() < 4096)
    values.push_back(static_cast<int64_t>(random()) >> (random() % 64));
  for (int bit = 9; bit < 63; ++bit) // A tie of bf16, and its two neighbours.
    for (int64_t delta : {-1, 0, 1})
      values.push_back((int64_t{0x101} << bit >> 1) * 1 + delta);
  values.resize((values.size() + 7) / 8 * 8);
  for (const Narrow &type : {narrows[0], narrows[1]}) {
    MathKernel kernel({"%r = arith.sitofp %x : $in to $out", "i64", type.name, 8}, hostTarget());
    INFO(type.name << " " << kernel.error());
    REQUIRE(kernel.ok());
    std::vector<uint16_t> result(values.size());
    kernel.run(values.data(), values.data(), result.data(), static_cast<int64_t>(values.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      uint64_t wanted = encodeFloat(integerToFloat(values[i], type.dtype), type.dtype);
      if (result[i] != wanted)
        FAIL_CHECK(values[i] << ": wanted code " << wanted << ", got " << result[i]);
    }
  }
}

TEST_CASE("remainders are exact") {
  uint64_t seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<double> x, y;
  for (double a : {0.0, -0.0, 1.0, -5.5, 7.0, 1e308, 5e-324, double(INFINITY), double(NAN), 0.1, 1e16})
    for (double b : {0.0, 1.0, -2.0, 0.3, 1e-300, 5e-324, double(INFINITY), double(NAN), 1e308, 3.0})
      x.push_back(a), y.push_back(b);
  while (x.size() < 8192) {
    x.push_back(std::bit_cast<double>(random()));
    y.push_back(random() % 2 ? std::bit_cast<double>(random()) : x.back() / (1 + random() % 1000) * 1.0001);
  }
  std::vector<double> result(x.size());
  MathKernel kernel({"%r = arith.remf %x, %y : $in", "f64", "f64", 8}, hostTarget());
  INFO(kernel.error());
  REQUIRE(kernel.ok());
  kernel.run(x.data(), y.data(), result.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    double wanted = std::fmod(x[i], y[i]);
    bool same = std::isnan(wanted) ? std::isnan(result[i])
                                   : result[i] == wanted && std::signbit(result[i]) == std::signbit(wanted);
    if (!same)
      FAIL_CHECK(x[i] << " % " << y[i] << ": wanted " << wanted << ", got " << result[i]);
  }
}

TEST_CASE("arithmetic on bf16 keeps subnormal numbers") {
  MathKernel kernel({"%r = arith.addf %x, %y : $in", "bf16", "bf16", 16}, hostTarget());
  INFO(kernel.error());
  REQUIRE(kernel.ok());
  std::vector<uint16_t> x(16, 0x0001), y(16, 0x0002), result(16);
  kernel.run(x.data(), y.data(), result.data(), 16);
  CHECK(result == std::vector<uint16_t>(16, 0x0003));
}
