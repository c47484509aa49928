// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Elementwise expressions in the reference, from their text: values by hand, special values, bounds.

#include "ReferenceCases.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/Reference/Reference.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace tilejit;
using namespace tilejit::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double none = std::numeric_limits<double>::quiet_NaN();

struct Argument {
  std::string name;
  DType dtype;
  double value;
};

/// One element of an expression's result.
Bounded evaluate(const std::string &text, const std::vector<Argument> &arguments, DType out = DType::F32) {
  std::string json = R"({"tilejit": "1.0", "op": "elementwise", "inputs": {)";
  for (const Argument &argument : arguments)
    json += (&argument == arguments.data() ? "" : ", ") + ("\"" + argument.name + "\": {\"dtype\": \"") +
            std::string(dtypeName(argument.dtype)) + "\", \"shape\": [1]}";
  json += R"(}, "outputs": {"y": {"dtype": ")" + std::string(dtypeName(out)) +
          R"(", "shape": [1]}}, "attributes": {"expression": {"y": ")" + text + R"("}}})";
  Expected<Description> description = parseDescription(json, "test");
  INFO(json << " " << description.status().message());
  REQUIRE(description.isOk());
  std::vector<HostTensor> inputs;
  for (const Operand &operand : description->inputs)
    for (const Argument &argument : arguments)
      if (argument.name == operand.name)
        inputs.push_back(tensorOf(operand.dtype, {1}, {argument.value}));
  std::vector<ReferenceTensor> outputs;
  REQUIRE(evaluateReference(*description, {}, inputs, outputs).isOk());
  return {outputs[0].values.empty() ? static_cast<double>(outputs[0].integers[0]) : outputs[0].values[0],
          outputs[0].errors[0]};
}

double valueOf(const std::string &text, double x, DType out = DType::F32) {
  return evaluate(text, {{"x", DType::F32, x}}, out).value;
}

} // namespace

TEST_CASE("expressions have Python's meaning") {
  CHECK(valueOf("-x ** 2", 3) == -9);
  CHECK(valueOf("2 ** x ** 2", 2) == 16);
  CHECK(valueOf("1 - x * 2 / 4 + -x", 2) == -2);
  CHECK(valueOf("x % 3", -7) == 2);
  CHECK(valueOf("x % -3", 7) == -2);
  CHECK(valueOf("round(x)", 2.5) == 2);
  CHECK(valueOf("round(x)", -3.5) == -4);
  CHECK(valueOf("where(x > 1, x, 10)", 0.5) == 10);
  CHECK(valueOf("x > 0 and not (x > 2) or x < -5", 1, DType::Bool) == 1);
  CHECK(valueOf("fma(x, 2, 1)", 4) == 9);
}

TEST_CASE("special values of expressions") {
  CHECK(valueOf("x ** 0", none) == 1);
  CHECK(std::isnan(valueOf("max(x, 0)", none)));
  CHECK(std::isnan(valueOf("min(0, x)", none)));
  CHECK(std::isnan(valueOf("relu(x)", none)));
  CHECK(std::isnan(valueOf("sign(x)", none)));
  CHECK(std::isnan(valueOf("x * 0", inf)));
  CHECK(valueOf("gelu(x)", -inf) == 0);
  CHECK(valueOf("gelu_tanh(x)", -inf) == 0);
  CHECK(valueOf("silu(x)", -inf) == 0);
  CHECK(valueOf("softplus(x)", -inf) == 0);
  CHECK(valueOf("softplus(x)", inf) == inf);
  CHECK(valueOf("log(x)", 0) == -inf);
  CHECK(valueOf("rsqrt(x)", 0) == inf);
  CHECK(std::isnan(valueOf("sqrt(x)", -1)));
  CHECK(valueOf("exp(x)", 100) == inf); // Beyond f32, though not beyond a double.
  CHECK(valueOf("isnan(x)", none, DType::Bool) == 1);
  CHECK(valueOf("isinf(x)", -inf, DType::Bool) == 1);
  CHECK(valueOf("x < x", none, DType::Bool) == 0);
  CHECK(valueOf("x != x", none, DType::Bool) == 1);
}

TEST_CASE("functions agree with the host's") {
  for (double x : {-4.5, -1.0, -1e-3, 0.0, 0.25, 1.0, 3.0, 20.0}) {
    INFO(x);
    CHECK(valueOf("tanh(x)", x) == Approx(std::tanh(static_cast<float>(x))));
    CHECK(valueOf("erf(x)", x) == Approx(std::erf(static_cast<float>(x))));
    CHECK(valueOf("sigmoid(x)", x) == Approx(1 / (1 + std::exp(-x))).epsilon(1e-6));
    CHECK(valueOf("expm1(x)", x) == Approx(std::expm1(x)).epsilon(1e-6));
    CHECK(valueOf("exp2(x)", x) == Approx(std::exp2(x)).epsilon(1e-6));
    CHECK(valueOf("gelu(x)", x) == Approx(x * 0.5 * std::erfc(-x / std::sqrt(2.0))).epsilon(1e-6));
    CHECK(
        valueOf("gelu_tanh(x)", x) ==
        Approx(0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)))).epsilon(1e-6).margin(1e-9));
    CHECK(valueOf("silu(x)", x) == Approx(x / (1 + std::exp(-x))).epsilon(1e-6));
    CHECK(valueOf("softplus(x)", x) == Approx(std::log1p(std::exp(x))).epsilon(1e-6));
  }
}

TEST_CASE("integers wrap and divide truly") {
  auto ints = [](const std::string &text, double a, double b, DType dtype, DType out) {
    return evaluate(text, {{"a", dtype, a}, {"b", dtype, b}}, out);
  };
  CHECK(ints("a * b", 1 << 20, 1 << 13, DType::I32, DType::I32).value == 0);
  CHECK(ints("a + b", 2147483647.0, 1, DType::I32, DType::I32).value == -2147483648.0);
  CHECK(ints("a % b", -7, 3, DType::I32, DType::I32).value == 2);
  CHECK(ints("a / b", 1, 4, DType::I32, DType::F32).value == 0.25);
  CHECK(ints("a - b", 3, 5, DType::U8, DType::U8).value == 254);
  CHECK(ints("a == b", 3, 3, DType::I64, DType::Bool).value == 1);
  CHECK(ints("a * b", 5, 5, DType::I32, DType::I32).error == 0);
}

TEST_CASE("casts inside expressions round and saturate") {
  CHECK(valueOf("cast(x, f16) + 1", 0.1) == Approx(1.0999755859375).margin(1e-12));
  CHECK(valueOf("cast(x, i8)", 300, DType::I8) == 127);
  CHECK(valueOf("cast(x, i32) * 2", -1.9, DType::I32) == -2);
  CHECK(valueOf("cast(x, f16)", 1e6) == inf);
}

TEST_CASE("bounds follow the expression") {
  auto errorOf = [](const std::string &text, double x) { return evaluate(text, {{"x", DType::F32, x}}).error; };
  double u = 0x1p-24;
  CHECK(errorOf("x", 0.3) == 0);
  CHECK(errorOf("abs(x)", -3) == 0);
  CHECK(errorOf("max(x, 2)", 3) == 0);
  CHECK(errorOf("x * 3", 5) == Approx(15 * u));
  CHECK(errorOf("x * 3 + 1", 5) == Approx(31 * u));
  CHECK(errorOf("exp(x)", 0) == Approx(8 * u));                   // 4 ulp at 1.
  CHECK(errorOf("tanh(x)", 0.5493061443340548) == Approx(6 * u)); // 6 ulp at 0.5: an ulp is a unit.
  CHECK(errorOf("relu(x * 3)", -1) == 0);
  CHECK(errorOf("floor(x / 3)", 9) == 1); // The quotient may be just below 3.
  CHECK(errorOf("floor(x / 3)", 10) == 0);
  CHECK(errorOf("log(x - 1)", 1) == inf); // The difference may be negative.
  CHECK(errorOf("sin(x)", 3.1415927) == Approx(1e-7));
  CHECK(errorOf("where(x * 3 > 3, 1, 5)", 1) == 4);
  CHECK(errorOf("where(x * 3 > 3, 1, 5)", 2) == 0);
  CHECK(errorOf("x / 0", 1) == 0);
}

TEST_CASE("broadcasting and several outputs") {
  Expected<Description> description = parseDescription(R"({"tilejit": "1.0", "op": "elementwise",
      "inputs": {"a": {"dtype": "f32", "shape": [2, 1, 3]}, "b": {"dtype": "f32", "shape": [2, 1]}, "s": {"dtype": "i32", "shape": []}},
      "outputs": {"sum": {"dtype": "f32", "shape": [2, 2, 3]}, "less": {"dtype": "bool", "shape": [2, 2, 3]}},
      "attributes": {"expression": {"sum": "a + b * s", "less": "a < b"}}})",
                                                       "test");
  INFO(description.status().message());
  REQUIRE(description.isOk());
  std::vector<HostTensor> inputs;
  for (const Operand &operand : description->inputs) {
    if (operand.name == "a")
      inputs.push_back(tensorOf(DType::F32, {2, 1, 3}, {1, 2, 3, 4, 5, 6}));
    else if (operand.name == "b")
      inputs.push_back(tensorOf(DType::F32, {2, 1}, {2, 5}));
    else
      inputs.push_back(tensorOf(DType::I32, {}, {10}));
  }
  std::vector<ReferenceTensor> outputs;
  REQUIRE(evaluateReference(*description, {}, inputs, outputs).isOk());
  for (const ReferenceTensor &output : outputs)
    if (output.name == "sum")
      CHECK(output.values == std::vector<double>{21, 22, 23, 51, 52, 53, 24, 25, 26, 54, 55, 56});
    else
      CHECK(output.integers == std::vector<int64_t>{1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0});
}
