// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The reference of each family against closed forms and small results worked out by hand.

#include "ReferenceCases.h"
#include "tilejit/Reference/Random.h"
#include "tilejit/Reference/Reference.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace tilejit;
using namespace tilejit::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double none = std::numeric_limits<double>::quiet_NaN();

std::vector<ReferenceTensor> evaluate(const Description &description, std::vector<HostTensor> inputs) {
  std::vector<ReferenceTensor> outputs;
  Status status = evaluateReference(description, {}, inputs, outputs);
  INFO(status.message());
  REQUIRE(status.isOk());
  return outputs;
}

std::vector<HostTensor> list(HostTensor a) {
  std::vector<HostTensor> tensors;
  tensors.push_back(std::move(a));
  return tensors;
}

std::vector<HostTensor> list(HostTensor a, HostTensor b) {
  std::vector<HostTensor> tensors = list(std::move(a));
  tensors.push_back(std::move(b));
  return tensors;
}

void checkValues(const ReferenceTensor &output, const std::vector<double> &expected, double slack = 1e-12) {
  REQUIRE(output.size() == static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i << " of " << output.name);
    double value = output.values.empty() ? static_cast<double>(output.integers[i]) : output.values[i];
    if (std::isnan(expected[i])) {
      CHECK(std::isnan(value));
    } else if (std::isinf(expected[i])) {
      CHECK(value == expected[i]);
    } else {
      CHECK(value == Approx(expected[i]).margin(slack));
    }
    CHECK(output.errors[i] >= 0);
  }
}

Description withEpilogue(Description description, std::vector<EpilogueStep> steps) {
  description.epilogue = std::move(steps);
  return description;
}

using Kind = EpilogueStep::Kind;

} // namespace

TEST_CASE("matrix products by hand") {
  HostTensor a = tensorOf(DType::F32, {2, 3}, {1, 2, 3, 4, 5, 6}), b = tensorOf(DType::F32, {3, 2}, {1, 0, 2, 1, 0, 3});
  std::vector<ReferenceTensor> c = evaluate(makeMatmul(DType::F32, {2, 3}, {3, 2}), list(std::move(a), std::move(b)));
  checkValues(c[0], {5, 11, 14, 23});
  // (min(3, 6 sqrt 3) + 1) units of the sum of sizes, and nothing noticeable beside.
  CHECK(c[0].errors[0] == Approx(4 * 0x1p-24 * 5));
}

TEST_CASE("matrix products with ragged sizes and transposed operands agree with a plain sum") {
  bool transposeA = GENERATE(false, true), transposeB = GENERATE(false, true);
  auto [m, n, k] = GENERATE(table<int64_t, int64_t, int64_t>({{1, 1, 1}, {5, 3, 7}, {3, 130, 300}, {17, 19, 257}}));
  Description description = makeMatmul(DType::F64, {m, k}, {k, n}, DType::F64);
  MatmulAttributes attributes = description.as<MatmulAttributes>();
  attributes.transposeA = transposeA;
  attributes.transposeB = transposeB;
  description.attributes = attributes;
  description.inputs = {operand("a", DType::F64, transposeA ? Shape{k, m} : Shape{m, k}),
                        operand("b", DType::F64, transposeB ? Shape{n, k} : Shape{k, n})};
  HostTensor a = *randomInput(description, {}, 0, 1), b = *randomInput(description, {}, 1, 1);
  std::vector<double> x = values(a), y = values(b);
  ReferenceTensor c = std::move(evaluate(description, list(std::move(a), std::move(b)))[0]);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += x[static_cast<size_t>(transposeA ? l * m + i : i * k + l)] *
               y[static_cast<size_t>(transposeB ? j * k + l : l * n + j)];
      REQUIRE(c.values[static_cast<size_t>(i * n + j)] == Approx(sum).margin(1e-12));
    }
}

TEST_CASE("leading dimensions of a matrix product broadcast") {
  Description description = makeMatmul(DType::F32, {2, 1, 1, 2}, {3, 2, 1});
  description.outputs = {operand("c", DType::F32, {2, 3, 1, 1})};
  ReferenceTensor c = std::move(evaluate(description, list(tensorOf(DType::F32, {2, 1, 1, 2}, {1, 2, 3, 4}),
                                                           tensorOf(DType::F32, {3, 2, 1}, {1, 0, 0, 1, 1, 1})))[0]);
  checkValues(c, {1, 2, 3, 3, 4, 7});
}

TEST_CASE("integer products are exact and wrap") {
  Description bytes = makeMatmul(DType::I8, {1, 2}, {2, 1}, DType::I32);
  checkValues(
      evaluate(bytes, list(tensorOf(DType::I8, {1, 2}, {-128, 127}), tensorOf(DType::I8, {2, 1}, {-128, 127})))[0],
      {128 * 128 + 127 * 127});
  Description mixed = makeMatmul(DType::I8, {1, 1}, {1, 1}, DType::I32);
  mixed.inputs[0].dtype = DType::U8;
  checkValues(evaluate(mixed, list(tensorOf(DType::U8, {1, 1}, {255}), tensorOf(DType::I8, {1, 1}, {-128})))[0],
              {-255 * 128});
  Description words = makeMatmul(DType::I32, {1, 2}, {2, 1}, DType::I32);
  checkValues(
      evaluate(words, list(tensorOf(DType::I32, {1, 2}, {1 << 16, 5}), tensorOf(DType::I32, {2, 1}, {1 << 16, 3})))[0],
      {15});
  CHECK(
      evaluate(words, list(tensorOf(DType::I32, {1, 2}, {1, 1}), tensorOf(DType::I32, {2, 1}, {1, 1})))[0].errors[0] ==
      0);
}

TEST_CASE("empty products and sums that overflow") {
  checkValues(evaluate(makeMatmul(DType::F32, {2, 0}, {0, 1}),
                       list(tensorOf(DType::F32, {2, 0}, {}), tensorOf(DType::F32, {0, 1}, {})))[0],
              {0, 0});
  CHECK(evaluate(makeMatmul(DType::F32, {0, 3}, {3, 1}),
                 list(tensorOf(DType::F32, {0, 3}, {}), tensorOf(DType::F32, {3, 1}, {0, 0, 0})))[0]
            .size() == 0);
  ReferenceTensor c = std::move(evaluate(
      makeMatmul(DType::F32, {3, 2}, {2, 1}),
      list(tensorOf(DType::F32, {3, 2}, {3e38, 3e38, 3e38, -3e38, none, 1}), tensorOf(DType::F32, {2, 1}, {2, 2})))[0]);
  CHECK((c.values[0] == inf && c.errors[0] == 0));
  CHECK(c.errors[1] == inf); // Infinity, NaN or zero, as the order has it.
  CHECK((std::isnan(c.values[2]) && c.errors[2] == 0));
}

TEST_CASE("epilogue steps in order") {
  Description description = makeMatmul(DType::F32, {1, 1}, {1, 3});
  description.inputs.push_back(operand("bias", DType::F32, {3}));
  description =
      withEpilogue(description, {{Kind::Scale, -1, 2.0}, {Kind::Add, 2}, {Kind::Relu}, {Kind::Clamp, -1, 0, 0.5, 4.0}});
  std::vector<HostTensor> inputs = list(tensorOf(DType::F32, {1, 1}, {1}), tensorOf(DType::F32, {1, 3}, {1, -5, 9}));
  inputs.push_back(tensorOf(DType::F32, {3}, {1, 1, 1}));
  checkValues(evaluate(description, std::move(inputs))[0], {3, 0.5, 4});
  for (auto [kind, expected] : {std::pair{Kind::Silu, 0.7310585786300049},
                                {Kind::Sigmoid, 0.7310585786300049},
                                {Kind::Tanh, 0.7615941559557649},
                                {Kind::Gelu, 0.8413447460685429},
                                {Kind::GeluTanh, 0.8411919906082768}})
    checkValues(evaluate(withEpilogue(makeMatmul(DType::F32, {1, 1}, {1, 1}), {{kind}}),
                         list(tensorOf(DType::F32, {1, 1}, {1}), tensorOf(DType::F32, {1, 1}, {1})))[0],
                {expected});
}

TEST_CASE("an integer epilogue stays in i32 until something floats") {
  Description description = makeMatmul(DType::I8, {1, 1}, {1, 2}, DType::I32);
  description.inputs.push_back(operand("bias", DType::I32, {1, 2}));
  std::vector<EpilogueStep> steps = {{Kind::Add, 2}, {Kind::Relu}};
  auto inputs = [&] {
    std::vector<HostTensor> tensors = list(tensorOf(DType::I8, {1, 1}, {1}), tensorOf(DType::I8, {1, 2}, {1, 1}));
    tensors.push_back(tensorOf(DType::I32, {1, 2}, {2147483647.0, 16777216.0}));
    return tensors;
  };
  ReferenceTensor exact = std::move(evaluate(withEpilogue(description, steps), inputs())[0]);
  checkValues(exact, {0, 16777217}); // The first sum wraps to a negative number.
  steps.push_back({Kind::Scale, -1, 1.0});
  ReferenceTensor floating = std::move(evaluate(withEpilogue(description, steps), inputs())[0]);
  checkValues(floating, {0, 16777216}); // f32 can't hold 2^24 + 1.
}

TEST_CASE("NaN goes through relu and clamp, activations have their limits") {
  for (auto [kind, input, expected] : {std::tuple{Kind::Relu, none, none},
                                       {Kind::Clamp, none, none},
                                       {Kind::Gelu, -inf, 0.0},
                                       {Kind::GeluTanh, -inf, 0.0},
                                       {Kind::Silu, -inf, 0.0},
                                       {Kind::Silu, inf, inf},
                                       {Kind::Gelu, inf, inf},
                                       {Kind::Tanh, -inf, -1.0}})
    checkValues(evaluate(withEpilogue(makeMatmul(DType::F32, {1, 1}, {1, 1}), {{kind, -1, 0, 0, 1}}),
                         list(tensorOf(DType::F32, {1, 1}, {input}), tensorOf(DType::F32, {1, 1}, {1})))[0],
                {expected});
}

TEST_CASE("reductions by hand") {
  std::vector<double> x = {1, 5, -2, 4, 0, 3};
  auto reduce = [&](ReduceKind kind, std::vector<int> axes, DType out = DType::F32) {
    return std::move(
        evaluate(makeReduce(kind, DType::F32, {2, 3}, std::move(axes), out), list(tensorOf(DType::F32, {2, 3}, x)))[0]);
  };
  checkValues(reduce(ReduceKind::Sum, {1}), {4, 7});
  checkValues(reduce(ReduceKind::Sum, {0}), {5, 5, 1});
  checkValues(reduce(ReduceKind::Mean, {0, 1}), {11.0 / 6});
  checkValues(reduce(ReduceKind::Prod, {1}), {-10, 0});
  checkValues(reduce(ReduceKind::Max, {0}), {4, 5, 3});
  checkValues(reduce(ReduceKind::Min, {1}), {-2, 0});
  checkValues(reduce(ReduceKind::ArgMax, {1}, DType::I64), {1, 0});
  checkValues(reduce(ReduceKind::ArgMin, {0, 1}, DType::I32), {2});
}

TEST_CASE("reductions over the outer and the middle axes keep row-major order") {
  std::vector<double> x(24);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<double>(i);
  ReferenceTensor sum = std::move(evaluate(makeReduce(ReduceKind::Sum, DType::F32, {2, 3, 4}, {0, 2}, DType::F32, true),
                                           list(tensorOf(DType::F32, {2, 3, 4}, x)))[0]);
  CHECK(sum.shape == Shape{1, 3, 1});
  checkValues(sum, {60, 92, 124});
  checkValues(evaluate(makeReduce(ReduceKind::ArgMax, DType::F32, {2, 3, 4}, {0, 2}, DType::I32),
                       list(tensorOf(DType::F32, {2, 3, 4}, x)))[0],
              {7, 7, 7});
}

TEST_CASE("a product of equal factors is right in each order") {
  // Equal chains have equal rounding errors, which add up where the chains are multiplied.
  constexpr int64_t lanes = 16, steps = 84;
  for (int i = 1; i <= 200; ++i) {
    float factor = 1 + static_cast<float>(i) * 0x1.234p-16f, chain = 1, product = 1;
    for (int64_t step = 0; step < steps; ++step)
      chain *= factor;
    for (int64_t lane = 0; lane < lanes; ++lane)
      product *= chain;
    ReferenceTensor y =
        std::move(evaluate(makeReduce(ReduceKind::Prod, DType::F32, {lanes * steps}, {0}),
                           list(tensorOf(DType::F32, {lanes * steps}, std::vector<double>(lanes * steps, factor))))[0]);
    INFO(factor);
    CHECK(isAccepted(product, {y.values[0], y.errors[0]}, DType::F32));
  }
}

TEST_CASE("NaN wins, the lowest index among equals, nothing has a sum") {
  auto arg = [](ReduceKind kind, std::vector<double> x) {
    auto n = static_cast<int64_t>(x.size());
    return evaluate(makeReduce(kind, DType::F32, {n}, {0}, DType::I64), list(tensorOf(DType::F32, {n}, x)))[0]
        .integers[0];
  };
  CHECK(arg(ReduceKind::ArgMax, {1, none, 9, none}) == 1);
  CHECK(arg(ReduceKind::ArgMin, {1, none, -9, none}) == 1);
  CHECK(arg(ReduceKind::ArgMax, {2, 7, 7}) == 1);
  CHECK(arg(ReduceKind::ArgMax, {-inf, -inf}) == 0);
  CHECK(arg(ReduceKind::ArgMin, {-0.0, 0.0}) == 0);
  for (auto [kind, expected] : {std::pair{ReduceKind::Sum, 0.0}, {ReduceKind::Prod, 1.0}, {ReduceKind::Mean, none}})
    checkValues(evaluate(makeReduce(kind, DType::F32, {2, 0}, {1}), list(tensorOf(DType::F32, {2, 0}, {})))[0],
                {expected, expected});
  checkValues(
      evaluate(makeReduce(ReduceKind::Max, DType::F32, {3}, {0}), list(tensorOf(DType::F32, {3}, {1, none, 2})))[0],
      {none});
}

TEST_CASE("integer reductions wrap, bools are counted") {
  checkValues(evaluate(makeReduce(ReduceKind::Sum, DType::I32, {2}, {0}, DType::I32),
                       list(tensorOf(DType::I32, {2}, {2147483647.0, 1})))[0],
              {-2147483648.0});
  checkValues(evaluate(makeReduce(ReduceKind::Prod, DType::I32, {2}, {0}, DType::I64),
                       list(tensorOf(DType::I32, {2}, {1 << 20, 1 << 20})))[0],
              {0x1p40});
  checkValues(evaluate(makeReduce(ReduceKind::Sum, DType::Bool, {4}, {0}, DType::I32),
                       list(tensorOf(DType::Bool, {4}, {1, 1, 0, 1})))[0],
              {3});
}

TEST_CASE("softmax rows sum to one and undefined rows are NaN") {
  Description description = makeSoftmax(Family::Softmax, DType::F32, {4, 3}, 1);
  std::vector<double> x = {0, std::log(2.0), std::log(5.0), none, 1, 2, -inf, -inf, -inf, -inf, 1000, 1000};
  ReferenceTensor y = std::move(evaluate(description, list(tensorOf(DType::F32, {4, 3}, x)))[0]);
  checkValues(y, {0.125, 0.25, 0.625, none, none, none, none, none, none, 0, 0.5, 0.5}, 1e-7);
  CHECK(y.errors[9] == 0);
  checkValues(
      evaluate(makeSoftmax(Family::LogSoftmax, DType::F32, {4, 3}, 1), list(tensorOf(DType::F32, {4, 3}, x)))[0],
      {std::log(0.125), std::log(0.25), std::log(0.625), none, none, none, none, none, none, -inf, std::log(0.5),
       std::log(0.5)},
      1e-6);
  checkValues(evaluate(makeSoftmax(Family::Softmax, DType::F32, {2, 2}, 0),
                       list(tensorOf(DType::F32, {2, 2}, {3, 0, 3, inf})))[0],
              {0.5, none, 0.5, none});
}

/// One head of two elements; keys are (1, 0) times `keys`, values (1, j).
static std::vector<ReferenceTensor> attend(const AttentionAttributes &attributes, std::vector<double> queries,
                                           std::vector<double> keys, std::vector<double> bias = {}) {
  auto m = static_cast<int64_t>(queries.size()), n = static_cast<int64_t>(keys.size());
  auto pairs = [](const std::vector<double> &first) {
    std::vector<double> all;
    for (double x : first)
      all.insert(all.end(), {x, 0.0});
    return all;
  };
  Description d;
  d.family = Family::Attention;
  d.attributes = attributes;
  d.inputs = {operand("q", DType::F32, {1, 1, m, 2}), operand("k", DType::F32, {1, 1, n, 2}),
              operand("v", DType::F32, {1, 1, n, 2})};
  d.outputs = {operand("o", DType::F32, {1, 1, m, 2}), operand("lse", DType::F32, {1, 1, m})};
  std::vector<double> values;
  for (int64_t j = 0; j < n; ++j)
    values.insert(values.end(), {1.0, static_cast<double>(j)});
  std::vector<HostTensor> inputs =
      list(tensorOf(DType::F32, {1, 1, m, 2}, pairs(queries)), tensorOf(DType::F32, {1, 1, n, 2}, pairs(keys)));
  inputs.push_back(tensorOf(DType::F32, {1, 1, n, 2}, values));
  if (!bias.empty()) {
    d.inputs.push_back(operand("bias", DType::F32, {n}));
    inputs.push_back(tensorOf(DType::F32, {n}, bias));
  }
  return evaluate(d, std::move(inputs));
}

TEST_CASE("attention by hand") {
  double two = std::log(2.0), e = std::exp(1.0);
  std::vector<ReferenceTensor> out = attend({1, false, {}, {}}, {1, 0}, {0, two});
  checkValues(out[0], {1, 2.0 / 3, 1, 0.5}, 1e-6);
  checkValues(out[1], {std::log(3.0), two}, 1e-6);
  out = attend({1, true, {}, {}}, {0, 0, 0}, {0, 0});
  checkValues(out[0], {0, 0, 1, 0, 1, 0.5}, 1e-6);
  checkValues(out[1], {-inf, 0, two}, 1e-6);
  CHECK(out[0].errors[0] == 0);
  out = attend({1, true, 2, {}}, {0, 0}, {0, 0, 0, 0});
  checkValues(out[0], {1, 1.5, 1, 2.5}, 1e-6);
  double capped = std::exp(3 * std::tanh(2 * two / 3));
  checkValues(attend({2, false, {}, 3}, {1}, {0, two})[0], {1, capped / (1 + capped)}, 1e-6);
  out = attend({1, false, {}, {}}, {0}, {0, 0, 0}, {1, -inf, 0});
  checkValues(out[0], {1, 2 / (1 + e)}, 1e-6);
  checkValues(attend({1, false, {}, {}}, {0}, {0, 0}, {-inf, -inf})[0], {0, 0});
  checkValues(attend({1, false, {}, {}}, {0}, {0, 0}, {0, inf})[0], {none, none});
  checkValues(attend({1, false, {}, {}}, {0}, {0, 0}, {none, 0})[1], {none});
}

/// Queries of zeros and keys of zeros in a row, value j is j; the epilogue adds 100.
static Status attendRow(std::vector<double> queryStarts, std::vector<double> keyStarts,
                        std::vector<ReferenceTensor> &outputs) {
  auto n = static_cast<int64_t>(queryStarts.size());
  Description d;
  d.family = Family::Attention;
  d.attributes = AttentionAttributes{1, true, {}, {}};
  d.inputs = {operand("q", DType::F32, {1, 1, 4, 1}),   operand("k", DType::F32, {1, 1, 5, 1}),
              operand("v", DType::F32, {1, 1, 5, 1}),   operand("cu_seqlens_q", DType::I32, {n}),
              operand("cu_seqlens_k", DType::I32, {n}), operand("r", DType::F32, {})};
  d.outputs = {operand("o", DType::F32, {1, 1, 4, 1}), operand("lse", DType::F32, {1, 1, 4})};
  EpilogueStep step{EpilogueStep::Kind::Add};
  step.input = 5;
  d.epilogue = {step};
  std::vector<HostTensor> inputs = list(tensorOf(DType::F32, {1, 1, 4, 1}, std::vector<double>(4, 0.0)),
                                        tensorOf(DType::F32, {1, 1, 5, 1}, std::vector<double>(5, 0.0)));
  inputs.push_back(tensorOf(DType::F32, {1, 1, 5, 1}, {0, 1, 2, 3, 4}));
  inputs.push_back(tensorOf(DType::I32, {n}, queryStarts));
  inputs.push_back(tensorOf(DType::I32, {n}, keyStarts));
  inputs.push_back(tensorOf(DType::F32, {}, {100}));
  return evaluateReference(d, {}, inputs, outputs);
}

TEST_CASE("attention of sequences in a row by hand") {
  std::vector<ReferenceTensor> out;
  REQUIRE(attendRow({0, 1, 1, 4}, {0, 3, 3, 5}, out).isOk());
  checkValues(out[0], {101, 100, 103, 103.5}, 1e-6);
  checkValues(out[1], {std::log(3.0), -inf, 0, std::log(2.0)}, 1e-6);
  CHECK(attendRow({0, 3, 2, 4}, {0, 1, 1, 5}, out).message() ==
        "input cu_seqlens_q: element [2] is 2, expected 3 to 4");
  CHECK(attendRow({0, 4}, {1, 5}, out).message() == "input cu_seqlens_k: element [0] is 1, expected 0");
  CHECK(attendRow({0, 4}, {0, 6}, out).message() == "input cu_seqlens_k: element [1] is 6, expected 5");
  CHECK(attendRow({0}, {0}, out).message() == "input cu_seqlens_q: element [0] is 0, expected 4");
}

/// One query of zeros for each sequence over pages of two positions whose value j of page p is 10 p + j.
static Status decode(std::vector<double> table, std::vector<double> lengths, std::vector<ReferenceTensor> &outputs) {
  auto b = static_cast<int64_t>(lengths.size()), pagesOfEach = static_cast<int64_t>(table.size()) / b;
  Description d;
  d.family = Family::AttentionDecode;
  d.attributes = AttentionAttributes{};
  d.inputs = {operand("q", DType::F32, {b, 1, 1, 1}), operand("k_cache", DType::F32, {3, 2, 1, 1}),
              operand("v_cache", DType::F32, {3, 2, 1, 1}), operand("block_table", DType::I32, {b, pagesOfEach}),
              operand("seq_lens", DType::I32, {b})};
  d.outputs = {operand("o", DType::F32, {b, 1, 1, 1}), operand("lse", DType::F32, {b, 1, 1})};
  std::vector<HostTensor> inputs = list(tensorOf(DType::F32, {b, 1, 1, 1}, std::vector<double>(lengths.size(), 0.0)),
                                        tensorOf(DType::F32, {3, 2, 1, 1}, std::vector<double>(6, 0.0)));
  inputs.push_back(tensorOf(DType::F32, {3, 2, 1, 1}, {0, 1, 10, 11, 20, 21}));
  inputs.push_back(tensorOf(DType::I32, {b, pagesOfEach}, table));
  inputs.push_back(tensorOf(DType::I32, {b}, lengths));
  return evaluateReference(d, {}, inputs, outputs);
}

TEST_CASE("decoding attention by hand") {
  std::vector<ReferenceTensor> out;
  REQUIRE(decode({2, 0, 1, -7}, {3, 2}, out).isOk());
  checkValues(out[0], {(20.0 + 21 + 0) / 3, 10.5}, 1e-6);
  checkValues(out[1], {std::log(3.0), std::log(2.0)}, 1e-6);
  REQUIRE(decode({9}, {0}, out).isOk());
  checkValues(out[0], {0});
  checkValues(out[1], {-inf});
  CHECK(decode({2, 3}, {3}, out).message() == "input block_table: element [0, 1] is 3, expected a page from 0 to 2");
  CHECK(decode({2, -1}, {3}, out).message() == "input block_table: element [0, 1] is -1, expected a page from 0 to 2");
  CHECK(decode({2, 1}, {5}, out).message() ==
        "input seq_lens: element [0] is 5, expected a number of keys from 0 to 4");
}

TEST_CASE("norms by hand") {
  Description layer;
  layer.family = Family::LayerNorm;
  layer.attributes = NormAttributes{1, 0.5};
  layer.inputs = {operand("x", DType::F32, {2, 2}), operand("weight", DType::F32, {2}),
                  operand("bias", DType::F32, {2})};
  layer.outputs = {operand("y", DType::F32, {2, 2}), operand("mean", DType::F32, {2}),
                   operand("rstd", DType::F32, {2})};
  std::vector<HostTensor> inputs = list(tensorOf(DType::F32, {2, 2}, {1, 3, 5, 5}), tensorOf(DType::F32, {2}, {1, 2}));
  inputs.push_back(tensorOf(DType::F32, {2}, {0, 10}));
  std::vector<ReferenceTensor> out = evaluate(layer, std::move(inputs));
  double rstd = 1 / std::sqrt(1.5);
  checkValues(out[0], {-rstd, 2 * rstd + 10, 0, 10});
  checkValues(out[1], {2, 5});
  checkValues(out[2], {rstd, 1 / std::sqrt(0.5)});

  Description rms;
  rms.family = Family::RmsNorm;
  rms.attributes = NormAttributes{0, 0};
  rms.inputs = {operand("x", DType::F32, {2})};
  rms.outputs = {operand("y", DType::F32, {2})};
  checkValues(evaluate(rms, list(tensorOf(DType::F32, {2}, {3, 4})))[0], {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)});
}

TEST_CASE("transpose and cast are exact") {
  ReferenceTensor y = std::move(evaluate(makeTranspose(DType::I64, {2, 1, 3}, {2, 0, 1}),
                                         list(tensorOf(DType::I64, {2, 1, 3}, {1, 2, 3, 4, 5, 6})))[0]);
  checkValues(y, {1, 4, 2, 5, 3, 6});
  checkValues(
      evaluate(makeCast(DType::F32, DType::I8, {5}), list(tensorOf(DType::F32, {5}, {-1.9, 1e9, -inf, none, 2.5})))[0],
      {-1, 127, -128, 0, 2});
  checkValues(evaluate(makeCast(DType::F32, DType::Bool, {3}), list(tensorOf(DType::F32, {3}, {none, -0.0, 0.1})))[0],
              {1, 0, 1});
  checkValues(evaluate(makeCast(DType::I32, DType::I8, {2}), list(tensorOf(DType::I32, {2}, {300, -129})))[0],
              {44, 127});
  checkValues(
      evaluate(makeCast(DType::F32, DType::F8E4M3FN, {3}, true), list(tensorOf(DType::F32, {3}, {1e9, -inf, none})))[0],
      {448, -448, none});
}

TEST_CASE("a run of the reference rounds once") {
  std::vector<HostTensor> outputs;
  REQUIRE(referenceRun(makeCast(DType::F64, DType::BF16, {3}), {},
                       list(tensorOf(DType::F64, {3}, {1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8, 1e300})), outputs)
              .isOk());
  CHECK(values(outputs[0]) == std::vector<double>{1 + 0x1p-7, 1, inf});
}

TEST_CASE("inputs that do not fit are refused with both shapes") {
  std::vector<ReferenceTensor> outputs;
  Status status =
      evaluateReference(makeCast(DType::F32, DType::F16, {4, 6}), {}, list(tensorOf(DType::F32, {1}, {0})), outputs);
  CHECK(status.code() == StatusCode::InvalidArgument);
  CHECK_THAT(status.message(), Catch::Contains("(1,)") && Catch::Contains("(4, 6)"));
}
