// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Every function against libm in a wider type: bit patterns spread over the whole range, a dense sample where it
// matters, and the special values. Prints a table of the largest errors.

#include "MathKernel.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <utility>
#include <vector>

using namespace tilejit;
using namespace tilejit::test;

namespace {

using Wide = long double;
using Reference = Wide (*)(Wide, Wide);

struct Function {
  const char *name;
  const char *operation; ///< Of the kernel.
  Reference reference;
  double limit32, limit64; ///< Units in the last place.
  double low, high;        ///< Where the dense sample lies.
  bool binary = false;
  bool nearZeros = false; ///< Absolute error of 1e-7 (f32) or 1e-16 (f64) is enough too.
};

Wide rsqrtWide(Wide x, Wide) {
  return x == 0 ? std::copysign(std::numeric_limits<Wide>::infinity(), x) : 1 / std::sqrt(x);
}

const Function functions[] = {
    {"exp", "%r = math.exp %x : $in", [](Wide x, Wide) { return std::exp(x); }, 2, 2, -110, 90},
    {"exp2", "%r = math.exp2 %x : $in", [](Wide x, Wide) { return std::exp2(x); }, 2, 2, -150, 130},
    {"expm1", "%r = math.expm1 %x : $in", [](Wide x, Wide) { return std::expm1(x); }, 4, 4, -4, 4},
    {"log", "%r = math.log %x : $in", [](Wide x, Wide) { return std::log(x); }, 2, 2, 0, 4},
    {"log2", "%r = math.log2 %x : $in", [](Wide x, Wide) { return std::log2(x); }, 2, 2, 0, 4},
    {"log10", "%r = math.log10 %x : $in", [](Wide x, Wide) { return std::log10(x); }, 3, 3, 0, 4},
    {"log1p", "%r = math.log1p %x : $in", [](Wide x, Wide) { return std::log1p(x); }, 4, 4, -1, 3},
    {"sqrt", "%r = math.sqrt %x : $in", [](Wide x, Wide) { return std::sqrt(x); }, 0.51, 0.51, 0, 4},
    {"rsqrt", "%r = math.rsqrt %x : $in", rsqrtWide, 2, 2, 0, 4},
    {"sin", "%r = math.sin %x : $in", [](Wide x, Wide) { return std::sin(x); }, 2, 2, -1000, 1000, false, true},
    {"cos", "%r = math.cos %x : $in", [](Wide x, Wide) { return std::cos(x); }, 2, 2, -1000, 1000, false, true},
    {"tan", "%r = math.tan %x : $in", [](Wide x, Wide) { return std::tan(x); }, 4, 4, -100, 100},
    {"tanh", "%r = math.tanh %x : $in", [](Wide x, Wide) { return std::tanh(x); }, 4, 4, -12, 12},
    {"erf", "%r = math.erf %x : $in", [](Wide x, Wide) { return std::erf(x); }, 3, 3, -5, 5},
    {"erfc", "%r = math.erfc %x : $in", [](Wide x, Wide) { return std::erfc(x); }, 6, 6, -4, 10},
    {"pow", "%r = math.powf %x, %y : $in", [](Wide x, Wide y) { return std::pow(x, y); }, 2, 3, 0, 20, true},
    {"div", "%r = arith.divf %x, %y : $in", [](Wide x, Wide y) { return x / y; }, 0.51, 0.51, -4, 4, true},
    {"floor", "%r = math.floor %x : $in", [](Wide x, Wide) { return std::floor(x); }, 0, 0, -4, 4},
    {"ceil", "%r = math.ceil %x : $in", [](Wide x, Wide) { return std::ceil(x); }, 0, 0, -4, 4},
    {"trunc", "%r = math.trunc %x : $in", [](Wide x, Wide) { return std::trunc(x); }, 0, 0, -4, 4},
    {"round", "%r = math.round %x : $in", [](Wide x, Wide) { return std::round(x); }, 0, 0, -4, 4},
    {"roundeven", "%r = math.roundeven %x : $in", [](Wide x, Wide) { return std::nearbyint(x); }, 0, 0, -4, 4},
    // Without the instruction, subnormal results of f64 may be rounded twice.
    {"fma", "%r = math.fma %x, %y, %x : $in", [](Wide x, Wide y) { return std::fma(x, y, x); }, 0.51, 0.51, -4, 4,
     true},
};

template <typename T> struct Bits;
template <> struct Bits<float> {
  using Int = uint32_t;
  static constexpr const char *name = "f32";
};
template <> struct Bits<double> {
  using Int = uint64_t;
  static constexpr const char *name = "f64";
};

/// Special values, all exponents and signs, and a dense sample of an interval.
template <typename T> std::vector<T> samples(double low, double high, std::mt19937_64 &random, size_t count) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T value : {T(0),
                  T(1),
                  T(0.5),
                  T(2),
                  T(3),
                  T(4),
                  T(10),
                  T(0.1),
                  T(1.5),
                  T(2.5),
                  T(100),
                  T(1e5),
                  Limits::min(),
                  Limits::denorm_min(),
                  Limits::max(),
                  Limits::infinity(),
                  Limits::quiet_NaN(),
                  Limits::epsilon(),
                  T(88.72283),
                  T(709.782712893384),
                  T(103.9),
                  T(745.1),
                  T(1e10),
                  T(1e30),
                  T(127.5),
                  T(1023.9)})
    for (T sign : {T(1), T(-1)}) {
      values.push_back(sign * value);
      values.push_back(std::nextafter(sign * value, T(0)));
      values.push_back(std::nextafter(sign * value, 2 * sign * value));
    }
  while (values.size() < count / 2)
    values.push_back(std::bit_cast<T>(static_cast<typename Bits<T>::Int>(random())));
  std::uniform_real_distribution<double> inside(low, high);
  while (values.size() < count)
    values.push_back(static_cast<T>(inside(random)));
  return values;
}

/// Distance in units in the last place of the wanted value; 0 where both are NaN or the same infinity.
template <typename T> double ulpError(T got, Wide wanted) {
  if (std::isnan(wanted) || std::isnan(got))
    return std::isnan(wanted) && std::isnan(got) ? 0 : 1e30;
  T rounded = static_cast<T>(wanted);
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded)
      return 0;
    // One side of the overflow's border: judge by the largest number.
    Wide bound = std::isinf(got) ? static_cast<Wide>(std::copysign(std::numeric_limits<T>::max(), got)) : got;
    if (std::isinf(wanted))
      return 1e30;
    return static_cast<double>(std::fabs(bound - wanted) / std::scalbn(Wide(1), std::numeric_limits<T>::max_exponent -
                                                                                    std::numeric_limits<T>::digits)) +
           1;
  }
  int exponent = wanted == 0 ? std::numeric_limits<int>::min() / 2 : std::ilogb(wanted);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent - 1) - std::numeric_limits<T>::digits + 1;
  return static_cast<double>(std::fabs(static_cast<Wide>(got) - wanted) / std::scalbn(Wide(1), exponent));
}

template <typename T> void check(const Function &function, const TargetSpec &target, int64_t lanes, uint64_t seed) {
  INFO(function.name << " " << Bits<T>::name << " on " << target.name << ", " << lanes << " lanes, seed " << seed);
  MathKernel kernel({function.operation, Bits<T>::name, Bits<T>::name, lanes}, target);
  INFO(kernel.error());
  REQUIRE(kernel.ok());
  std::mt19937_64 random(seed);
  constexpr size_t count = 1 << 16;
  std::vector<T> x = samples<T>(function.low, function.high, random, count);
  std::vector<T> y(count, T(0)), result(count);
  if (function.binary) {
    y = samples<T>(function.low - 10, function.high, random, count);
    std::shuffle(y.begin(), y.end(), random);
    for (size_t i = 0; i < 150; ++i) // Special values meet special values.
      for (size_t j = 0; j < 150; ++j)
        x[2048 + i * 150 + j] = x[i], y[2048 + i * 150 + j] = x[j];
  }
  kernel.run(x.data(), y.data(), result.data(), count);
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    Wide wanted = function.reference(x[i], y[i]);
    double error = ulpError(result[i], wanted);
    if (function.nearZeros && std::fabs(static_cast<Wide>(result[i]) - wanted) < (sizeof(T) == 4 ? 1e-7L : 1e-16L))
      error = std::min(error, 0.5);
    if (result[i] == 0 && wanted == 0 && std::signbit(result[i]) != std::signbit(wanted) &&
        std::string_view(function.name) != "fma")
      error = 1e30;
    if (error > worst)
      worst = error, at = i;
  }
  double limit = sizeof(T) == 4 ? function.limit32 : function.limit64;
  std::printf("  %-10s %s  %-10s %2d lanes  largest error %7.3f ulp at %.9Lg\n", function.name, Bits<T>::name,
              target.name.c_str(), static_cast<int>(lanes), worst, static_cast<Wide>(x[at]));
  INFO("x = " << x[at] << ", y = " << y[at] << ", got " << result[at] << ", wanted "
              << static_cast<double>(function.reference(x[at], y[at])));
  CHECK(worst <= limit);
}

template <typename T> void checkAll(const char *targetName, int64_t lanes) {
  auto target = parseTarget(targetName);
  REQUIRE(target);
  if (!runsOnHost(*target)) {
    std::printf("  skipped: this machine can't run code for %s\n", targetName);
    return;
  }
  uint64_t seed = std::random_device()();
  for (const Function &function : functions)
    check<T>(function, *target, lanes, seed);
}

} // namespace

TEST_CASE("functions of f32 on this machine's vectors") { checkAll<float>("native", 16); }
TEST_CASE("functions of f64 on this machine's vectors") { checkAll<double>("native", 8); }
TEST_CASE("functions of f32 scalars") { checkAll<float>("native", 0); }
TEST_CASE("functions of f64 scalars") { checkAll<double>("native", 0); }
TEST_CASE("functions of f32 with AVX2") { checkAll<float>("x86-64-v3", 8); }
TEST_CASE("functions of f32 without fused multiply-add") { checkAll<float>("x86-64-v2", 4); }
TEST_CASE("functions of f64 without fused multiply-add") { checkAll<double>("x86-64", 2); }

TEST_CASE("a multiply-add of f64 without an instruction rounds once") {
  auto target = parseTarget("x86-64");
  REQUIRE(target);
  if (!runsOnHost(*target)) {
    std::printf("SKIP: emulated multiply-add: this machine can't run code for x86-64\n");
    return;
  }
  // z is x, or what is left of the product after its rounding.
  const char *operations[] = {"%r = math.fma %x, %y, %x : $in",
                              "%p = arith.mulf %x, %y : $in\n%z = arith.negf %p : $in\n%r = math.fma %x, %y, %z : $in"};
  uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  // Few bits, so that exact halves are met, or all; exponents such that results are subnormal, common or infinite.
  auto number = [&](int low, int high) {
    uint64_t bits = random() & ((uint64_t{1} << 52) - 1);
    if (random() % 2)
      bits &= ~((uint64_t{1} << (random() % 52)) - 1);
    int exponent = std::clamp(low + static_cast<int>(random() % static_cast<uint64_t>(high - low)), 0, 2046);
    return std::bit_cast<double>((random() % 2) << 63 | static_cast<uint64_t>(exponent) << 52 | bits);
  };
  constexpr size_t count = 1 << 16;
  for (const char *operation : operations)
    for (auto [low, high] : {std::pair(0, 60), {440, 580}, {960, 1090}, {1500, 1600}, {1980, 2047}}) {
      INFO(operation << ", exponents " << low << " to " << high << ", seed " << seed);
      MathKernel kernel({operation, "f64", "f64", 2}, *target);
      INFO(kernel.error());
      REQUIRE(kernel.ok());
      std::vector<double> x(count), y(count), result(count);
      for (size_t i = 0; i < count; ++i)
        x[i] = number(low, high), y[i] = number(i % 2 ? 1015 : low, i % 2 ? 1030 : high);
      kernel.run(x.data(), y.data(), result.data(), count);
      size_t wrong = 0;
      for (size_t i = 0; i < count; ++i) {
        double wanted = std::fma(x[i], y[i], operation == operations[0] ? x[i] : -(x[i] * y[i]));
        bool same = std::isnan(wanted) ? std::isnan(result[i])
                                       : std::bit_cast<uint64_t>(wanted) == std::bit_cast<uint64_t>(result[i]);
        if (!same && wrong++ == 0)
          UNSCOPED_INFO("first: x = " << x[i] << ", y = " << y[i] << ", got " << result[i] << ", wanted " << wanted);
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("the same function compiles to the same bytes") {
  MathKernelText text{"%r = math.sin %x : $in", "f32", "f32", 16};
  MathKernel first(text, hostTarget()), second(text, hostTarget());
  REQUIRE(first.ok());
  CHECK(first.payload() == second.payload());
}
