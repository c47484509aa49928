// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Every function against libm in a wider type: bit patterns spread over the whole range, a dense sample where it
// matters, and the special values. Prints a table of the largest errors.

#include "MathCases.h"
#include "MathKernel.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

using namespace tilejit;
using namespace tilejit::test;

namespace {

template <typename T> void check(const MathFunction &function, const TargetSpec &target, int64_t lanes, uint64_t seed) {
  INFO(function.name << " " << Bits<T>::name << " on " << target.name << ", " << lanes << " lanes, seed " << seed);
  MathKernel kernel({function.operation, Bits<T>::name, Bits<T>::name, lanes}, target);
  INFO(kernel.error());
  REQUIRE(kernel.ok());
  constexpr size_t count = 1 << 16;
  Arguments<T> arguments(function, seed, count);
  const std::vector<T> &x = arguments.x, &y = arguments.y;
  std::vector<T> result(count);
  kernel.run(x.data(), y.data(), result.data(), count);
  auto [worst, at] = worstError<T>(function, arguments, result);
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
  for (const MathFunction &function : mathFunctions())
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
