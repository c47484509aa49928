// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The simulator's elementary functions against libm in double. They are computed in double and rounded once: at most
// 0.501 units in the last place off (the double result adds less than 0.001 to the half of rounding).

#include "core/VectorMath.h"

#include <catch2/catch.hpp>
#include <random>

namespace tilejit::sim::test {

namespace {

constexpr double bound = 0.501;

/// Error in units of the last place of f32.
double errorOf(float result, double exact) {
  auto rounded = static_cast<float>(exact);
  if (std::isnan(exact))
    return std::isnan(result) ? 0 : HUGE_VAL;
  if (std::isinf(rounded) || rounded == 0)
    return result == rounded || std::fabs(result - exact) <= 0x1p-150 ? 0 : HUGE_VAL;
  double magnitude = std::fabs(static_cast<double>(rounded));
  double unit = std::ldexp(1.0, std::max(std::ilogb(magnitude), -126) - 23);
  return std::fabs(result - exact) / unit;
}

template <class F, class G> double worst(F f, G exact, double low, double high) {
  std::mt19937_64 random(7);
  double most = 0;
  for (int i = 0; i < 60000; ++i) {
    auto bits = static_cast<uint32_t>(random());
    // Half evenly, half of all magnitudes.
    auto x = i & 1 ? static_cast<float>(low + (high - low) * (bits * 0x1p-32)) : std::bit_cast<float>(bits);
    if (std::isnan(x) || !(x >= low && x <= high))
      continue;
    most = std::max(most, errorOf(f(x), exact(static_cast<double>(x))));
  }
  return most;
}

} // namespace

TEST_CASE("exponentials and logarithms of lanes", "[simulator][math]") {
  CHECK(worst(lane::exp2, [](double x) { return std::exp2(x); }, -170, 140) < bound);
  CHECK(worst(lane::exp, [](double x) { return std::exp(x); }, -120, 100) < bound);
  CHECK(worst(lane::exp10, [](double x) { return std::pow(10.0, x); }, -50, 40) < bound);
  CHECK(worst(lane::log2, [](double x) { return std::log2(x); }, -1, 3e38) < bound);
  CHECK(worst(lane::log, [](double x) { return std::log(x); }, 0.5, 2) < bound);
  CHECK(worst(lane::log10, [](double x) { return std::log10(x); }, -1, 3e38) < bound);
  CHECK(lane::exp2(INFINITY) == INFINITY);
  CHECK(lane::exp2(-INFINITY) == 0);
  CHECK(std::isnan(lane::exp(NAN)));
  CHECK(lane::log2(0) == -INFINITY);
  CHECK(std::isnan(lane::log(-1)));
  CHECK(lane::log(INFINITY) == INFINITY);
  CHECK(lane::log2(0x1p-149f) == -149);
}

TEST_CASE("angles, hyperbolic tangent and error function of lanes", "[simulator][math]") {
  constexpr double most = 0x1p20;
  CHECK(worst(lane::Sine::fast, [](double x) { return std::sin(x); }, -most, most) < bound);
  CHECK(worst(lane::Cosine::fast, [](double x) { return std::cos(x); }, -most, most) < bound);
  CHECK(worst(lane::Tangent::fast, [](double x) { return std::tan(x); }, -100, 100) < bound);
  CHECK(worst(lane::tanh, [](double x) { return std::tanh(x); }, -12, 12) < bound);
  CHECK(worst(lane::erf, [](double x) { return std::erf(x); }, -5, 5) < bound);
  CHECK(std::signbit(lane::Sine::fast(-0.0f)));
  CHECK(std::signbit(lane::tanh(-0.0f)));
  CHECK(lane::tanh(INFINITY) == 1);
  CHECK(lane::erf(-INFINITY) == -1);
  CHECK(lane::Sine::hard(0x1p20f));
  CHECK(lane::Sine::hard(NAN));
}

TEST_CASE("powers of lanes, with the arguments that take the slow way", "[simulator][math]") {
  for (float y : {0.5f, 2.0f, -3.25f, 17.0f, 0.0f})
    CHECK(worst([=](float x) { return lane::Power::fast(x, y); }, [=](double x) { return std::pow(x, double(y)); },
                1e-30, 3e38) < bound);
  alignas(64) float a[32], b[32], d[32];
  const float bases[] = {2, -2, 0, -0.0f, INFINITY, -INFINITY, NAN, 1};
  const float powers[] = {3, 3, -1, 3, 2, -3, 0, NAN};
  for (unsigned l = 0; l < 32; ++l) {
    a[l] = bases[l % 8];
    b[l] = powers[l % 8];
    d[l] = -7;
  }
  constexpr LaneMask active = 0x0fffffffu;
  lane::mapWithFallback<32, lane::Power>(active, d, a, b);
  for (unsigned l = 0; l < 32; ++l) {
    float expected = active >> l & 1 ? std::pow(a[l], b[l]) : -7;
    INFO(a[l] << " to the " << b[l]);
    CHECK((d[l] == expected || (std::isnan(d[l]) && std::isnan(expected))));
  }
}

} // namespace tilejit::sim::test
