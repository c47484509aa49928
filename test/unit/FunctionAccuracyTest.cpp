// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The table of accuracy: every function of expressions in both classes, over all values of f16 and bf16 and a dense
// sample of f32 with its special values, with results in f32, so that no rounding hides an error. The reference judges
// each result, its kind at infinities and NaN too; the table shows the largest errors of normal results.

#include "OpLibTrialRun.h"

#include "tilejit/Base/Float.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>

using namespace tilejit;
using namespace tilejit::test;

namespace {

using Wide = long double;

struct Function {
  const char *name;
  Wide (*reference)(Wide);
  double ulps;                         ///< What is promised of the full class.
  bool isFast = false;                 ///< Has a form of the fast class.
  double nearZeros = 0;                ///< An absolute error that is allowed of small results as well.
  Wide (*ofTwo)(Wide, Wide) = nullptr; ///< The reference of a function of two numbers.
};

Wide logistic(Wide x) { return 1 / (1 + std::exp(-x)); }
Wide gelu(Wide x) { return x / 2 * std::erfc(-x * std::numbers::sqrt2_v<Wide> / 2); }
Wide geluTanh(Wide x) {
  return x * logistic(2 * std::sqrt(2 / std::numbers::pi_v<Wide>) * (x + 0.044715L * x * x * x));
}

const Function functions[] = {
    {"exp", [](Wide x) { return std::exp(x); }, 4, true},
    {"exp2", [](Wide x) { return std::exp2(x); }, 4, true},
    {"expm1", [](Wide x) { return std::expm1(x); }, 6},
    {"log", [](Wide x) { return std::log(x); }, 4, true},
    {"log2", [](Wide x) { return std::log2(x); }, 4, true},
    {"log1p", [](Wide x) { return std::log1p(x); }, 6, true},
    {"sqrt", [](Wide x) { return std::sqrt(x); }, 4},
    {"rsqrt", [](Wide x) { return 1 / std::sqrt(x); }, 4, true},
    {"tanh", [](Wide x) { return std::tanh(x); }, 6, true},
    {"erf", [](Wide x) { return std::erf(x); }, 6, true},
    {"sin", [](Wide x) { return std::sin(x); }, 6, true, 1e-7},
    {"cos", [](Wide x) { return std::cos(x); }, 6, true, 1e-7},
    {"tan", [](Wide x) { return std::tan(x); }, 6, false, 1e-7},
    {"sigmoid", logistic, 6, true},
    {"silu", [](Wide x) { return x * logistic(x); }, 6, true},
    {"gelu", gelu, 6, true, 1e-7},
    {"gelu_tanh", geluTanh, 6, true, 1e-7},
    {"softplus", [](Wide x) { return std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x))); }, 6, true},
    {"pow", nullptr, 6, true, 0, [](Wide x, Wide y) { return std::pow(x, y); }},
};

/// All values of a type of 16 bits, in an order by the seed where they are `shuffled`; of f32 special ones, any bits,
/// and numbers of common size.
std::vector<uint32_t> codes(DType dtype, uint64_t seed, bool shuffled = false) {
  std::vector<uint32_t> result(1 << 16);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> common(-12, 12);
  for (uint32_t i = 0; i < result.size(); ++i)
    result[i] = storageBytes(dtype) == 2 ? i : i % 4 ? std::bit_cast<uint32_t>(common(random)) : uint32_t(random());
  if (storageBytes(dtype) == 2) {
    if (shuffled)
      std::shuffle(result.begin(), result.end(), random);
    return result;
  }
  using Limits = std::numeric_limits<float>;
  size_t next = 0;
  for (float value : {0.0f, Limits::denorm_min(), Limits::min(), Limits::max(), Limits::infinity(), Limits::quiet_NaN(),
                      1e20f, 88.73f, 104.0f, 128.0f, 150.0f, 1.0f})
    for (float sign : {1.0f, -1.0f})
      result[next++] = std::bit_cast<uint32_t>(sign * value);
  return result;
}

std::string described(const Function &function, DType dtype, bool isFast) {
  std::string operand = "{'dtype': '" + std::string(dtypeName(dtype)) + "', 'shape': [65536]}";
  std::string inputs = "'inputs': {'x': " + operand + (function.ofTwo ? ", 'z': " + operand : "") + "}, ";
  return describe("elementwise", inputs +
                                     "'outputs': {'y': {'dtype': 'f32', 'shape': [65536]}}, 'attributes': "
                                     "{'expression': {'y': '" +
                                     function.name + (function.ofTwo ? "(x, z)" : "(x)") + "'}, 'accuracy': '" +
                                     (isFast ? "fast" : "full") + "'}");
}

struct Largest {
  double ulps = 0, relative = 0;
};

float resultOf(Trial &trial, int64_t i) {
  float got;
  std::memcpy(&got, trial.memory.back().bytes.element(i * int64_t(sizeof(got))), sizeof(got));
  return got;
}

/// Zeros and infinities give what they give without any error, in both classes; only a fast cosine of 0 is not quite 1.
void checkLimits(const Function &function, Trial &trial, bool isFast) {
  for (int64_t i = 0; i < trial.inputs[0].elements(); ++i) {
    Wide x = loadAsDouble(trial.inputs[0].element(i), trial.inputs[0].dtype()), wanted = function.reference(x);
    bool isLimit = std::isinf(x) || (x == 0 && !(isFast && std::string_view(function.name) == "cos"));
    if (isLimit && std::isfinite(wanted) && wanted == static_cast<float>(wanted)) {
      INFO(function.name << "(" << static_cast<double>(x) << ")");
      CHECK(resultOf(trial, i) == static_cast<float>(wanted));
    }
  }
}

Largest largestError(const Function &function, Trial &trial, bool isFast) {
  const Wide least = isFast ? 0x1p-120L : Wide(std::numeric_limits<float>::min());
  Largest largest;
  for (int64_t i = 0; i < trial.inputs[0].elements(); ++i) {
    auto operand = [&](size_t n) { return Wide(loadAsDouble(trial.inputs[n].element(i), trial.inputs[n].dtype())); };
    Wide wanted = function.ofTwo ? function.ofTwo(operand(0), operand(1)) : function.reference(operand(0));
    float got = resultOf(trial, i);
    Wide error = std::fabs(got - wanted), size = std::fabs(wanted);
    bool isNearZero = size < 0.2L && error <= Wide(function.nearZeros);
    if (!std::isfinite(wanted) || size < least || std::isinf(got) || isNearZero)
      continue;
    largest.relative = std::max(largest.relative, double(error / size));
    largest.ulps = std::max(largest.ulps, double(std::scalbn(error, 23 - std::ilogb(wanted))));
  }
  return largest;
}

void check(const Function &function, DType dtype, bool isFast, uint64_t seed) {
  Trial trial({described(function, dtype, isFast), ""}, seed);
  for (size_t n = 0; n < trial.inputs.size(); ++n) {
    std::vector<uint32_t> values = codes(dtype, seed + n, /*shuffled=*/n > 0);
    for (size_t i = 0; i < values.size(); ++i)
      std::memcpy(trial.inputs[n].element(int64_t(i)), &values[i], size_t(storageBytes(dtype)));
    trial.memory[n].copyFrom(trial.inputs[n]);
  }
  runTrial(trial, hostTarget(), {});
  trial.judge();
  if (!function.ofTwo)
    checkLimits(function, trial, isFast);
  Largest largest = largestError(function, trial, isFast);
  std::printf("  %-10s %-5s %-5s %8.2f ulp  2^%.1f\n", function.name, std::string(dtypeName(dtype)).c_str(),
              isFast ? "fast" : "full", largest.ulps, std::log2(largest.relative));
  if (isFast)
    CHECK(largest.relative <= 0x1p-15);
  else
    CHECK(largest.ulps <= function.ulps);
}

} // namespace

TEST_CASE("functions are as exact as their class says", "[cpu]") {
  uint64_t seed = freshSeed();
  for (const Function &function : functions)
    for (DType dtype : {DType::F16, DType::BF16, DType::F32})
      for (bool isFast : {false, true}) {
        if (isFast && !function.isFast)
          continue;
        INFO(function.name << " " << dtypeName(dtype) << (isFast ? " fast" : " full") << ", seed " << seed);
        check(function, dtype, isFast, seed);
      }
}
