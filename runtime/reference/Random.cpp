// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The generator and the filling of tensors. Counters of neighbouring blocks go through the rounds side by side, so that
// the compiler can use vectors.

#include "tilejit/Reference/Random.h"

#include "Parallel.h"
#include "Shapes.h"
#include "Vectors.h"
#include "tilejit/Base/Float.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace tilejit {
namespace {

constexpr int rounds = 10;
constexpr uint32_t multipliers[2] = {0xD2511F53, 0xCD9E8D57};
constexpr uint32_t keySteps[2] = {0x9E3779B9, 0xBB67AE85};

/// Blocks that are computed side by side.
constexpr size_t lanes = 16;

/// Words 0 to 3 of consecutive blocks.
struct Blocks {
  uint32_t words[4][lanes];
};

[[gnu::always_inline]] inline Blocks blocksFrom(uint64_t first, uint32_t operand, uint64_t seed) {
  Blocks b;
  for (size_t i = 0; i < lanes; ++i) {
    b.words[0][i] = static_cast<uint32_t>(first + i);
    b.words[1][i] = static_cast<uint32_t>((first + i) >> 32);
    b.words[2][i] = operand;
    b.words[3][i] = 0;
  }
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < lanes; ++i) {
      uint64_t even = uint64_t{multipliers[0]} * b.words[0][i], odd = uint64_t{multipliers[1]} * b.words[2][i];
      uint32_t word0 = static_cast<uint32_t>(odd >> 32) ^ b.words[1][i] ^ key0;
      uint32_t word2 = static_cast<uint32_t>(even >> 32) ^ b.words[3][i] ^ key1;
      b.words[0][i] = word0;
      b.words[1][i] = static_cast<uint32_t>(odd);
      b.words[2][i] = word2;
      b.words[3][i] = static_cast<uint32_t>(even);
    }
    key0 += keySteps[0];
    key1 += keySteps[1];
  }
  return b;
}

inline int32_t halves(uint32_t word) { return static_cast<int32_t>((word & 0xffff) + (word >> 16)); }

/// For each of `count` blocks, a multiple of the lanes, the sum of eight 16-bit numbers less its mean.
TILEJIT_VECTOR_CLONES void centredSums(uint64_t first, uint32_t operand, uint64_t seed, int32_t *sums, size_t count) {
  constexpr int32_t mean = 8 * 65535 / 2;
  for (size_t start = 0; start < count; start += lanes) {
    Blocks b = blocksFrom(first + start, operand, seed);
    for (size_t lane = 0; lane < lanes; ++lane)
      sums[start + lane] = halves(b.words[0][lane]) + halves(b.words[1][lane]) + halves(b.words[2][lane]) +
                           halves(b.words[3][lane]) - mean;
  }
}

/// Words of `count` blocks in order.
TILEJIT_VECTOR_CLONES void randomWords(uint64_t first, uint32_t operand, uint64_t seed, uint32_t *words, size_t count) {
  for (size_t start = 0; start < count; start += lanes) {
    Blocks b = blocksFrom(first + start, operand, seed);
    for (size_t word = 0; word < 4; ++word)
      for (size_t lane = 0; lane < lanes; ++lane)
        words[4 * (start + lane) + word] = b.words[word][lane];
  }
}

double sigma() { return std::sqrt(2.0 * 4294967295.0 / 3.0); }

constexpr int64_t chunk = 4096;

void fillFloats(const RandomPlan &plan, uint32_t operand, uint64_t seed, HostTensor &tensor) {
  bool nearOne = plan.kind == RandomPlan::Kind::NearOne;
  auto one = static_cast<int64_t>(std::llround(2 * sigma() * plan.scale));
  double factor = nearOne ? 1.0 / static_cast<double>(one) : plan.scale / sigma();
  reference::parallelFor(tensor.elements(), chunk, [&](int64_t begin, int64_t end) {
    int32_t sums[chunk];
    double values[chunk];
    auto count = static_cast<size_t>(end - begin);
    centredSums(static_cast<uint64_t>(begin), operand, seed, sums, (count + lanes - 1) / lanes * lanes);
    for (size_t i = 0; i < count; ++i) {
      int64_t sum = sums[i];
      if (nearOne)
        sum = sum & 8 ? -(one + sum) : one + sum;
      values[i] = static_cast<double>(sum) * factor;
    }
    storeDoubles(tensor.element(begin), tensor.dtype(), std::span(values, count));
  });
}

void fillIntegers(const RandomPlan &plan, uint32_t operand, uint64_t seed, HostTensor &tensor) {
  bool isSign = plan.kind == RandomPlan::Kind::Sign, isPower = plan.kind == RandomPlan::Kind::PowerOfTwo;
  int64_t low = isSign ? 0 : plan.low;
  uint64_t count = isSign ? 2 : static_cast<uint64_t>(plan.high - plan.low) + 1;
  DType dtype = tensor.dtype();
  reference::parallelFor(tensor.elements(), chunk, [&](int64_t begin, int64_t end) {
    uint32_t words[chunk];
    int64_t values[chunk];
    auto wanted = static_cast<size_t>(end - begin);
    size_t blocks = (wanted + 4 * lanes - 1) / (4 * lanes) * lanes;
    randomWords(static_cast<uint64_t>(begin / 4), operand, seed, words, blocks);
    for (size_t i = 0; i < wanted; ++i)
      values[i] = low + static_cast<int64_t>(words[i] * count >> 32);
    std::span<int64_t> part(values, wanted);
    if (isSign)
      for (int64_t &value : part)
        value = 2 * value - 1;
    if (!isPower)
      return storeIntegers(tensor.element(begin), dtype, part);
    for (int64_t i = begin; i < end; ++i)
      storeDouble(tensor.element(i), dtype, std::ldexp(1.0, static_cast<int>(values[i - begin])));
  });
}

void fillPages(const RandomPlan &plan, uint32_t operand, uint64_t seed, HostTensor &tensor) {
  auto pages = static_cast<uint64_t>(std::max<int64_t>(plan.high + 1, 1));
  std::array<uint32_t, 4> words =
      philox({0, 0, operand, 0}, {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  uint64_t start = words[0] * pages >> 32, step = words[1] * pages >> 32;
  while (std::gcd(step, pages) != 1)
    ++step;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    auto page = static_cast<int64_t>((static_cast<uint64_t>(i) % pages * step + start) % pages);
    storeIntegers(tensor.element(i), tensor.dtype(), std::span(&page, 1));
  }
}

void sortStarts(const RandomPlan &plan, HostTensor &tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.elements()));
  if (values.empty())
    return;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = loadAsInteger(tensor.element(static_cast<int64_t>(i)), tensor.dtype());
  values.back() = plan.high;
  values.front() = 0;
  std::sort(values.begin(), values.end());
  storeIntegers(tensor.element(0), tensor.dtype(), values);
}

/// Integers of at most this size, as far as the type has them.
RandomPlan uniform(DType dtype, int64_t limit) {
  RandomPlan plan;
  plan.kind = RandomPlan::Kind::Uniform;
  plan.low = std::max(minValue(dtype), -limit);
  plan.high = std::min(maxValue(dtype), limit);
  return plan;
}

RandomPlan normal(double scale) { return {RandomPlan::Kind::Normal, scale, 0, 0}; }

constexpr int64_t accumulatorLimit = (int64_t{1} << 31) - 1;

RandomPlan matmulPlan(const Description &description, const Binding &binding, int input) {
  DType dtype = description.inputs[static_cast<size_t>(input)].dtype;
  auto length = static_cast<double>(std::max<int64_t>(reference::reductionLength(description, binding), 1));
  auto factorLimit = static_cast<int64_t>(std::sqrt(static_cast<double>(accumulatorLimit) / length));
  if (input < 2 && isFloat(dtype))
    return normal(1 / std::sqrt(std::sqrt(length)));
  if (input < 2)
    return uniform(dtype, std::max<int64_t>(factorLimit, 1));
  if (isFloat(dtype))
    return normal(1);
  // Operands of an integer epilogue: a factor must leave room, a term may be as large as the product.
  int64_t widest = std::min<int64_t>(factorLimit, std::max<int64_t>(maxValue(description.inputs[0].dtype) + 1, 1));
  auto reached = static_cast<double>(widest) * static_cast<double>(widest) * length;
  bool isFactor = false;
  for (const EpilogueStep &step : description.epilogue)
    isFactor |= step.kind == EpilogueStep::Kind::Mul && step.input == input;
  auto room = static_cast<int64_t>(static_cast<double>(accumulatorLimit) / (2 * std::max(reached, 1.0)));
  return uniform(dtype, isFactor ? std::clamp<int64_t>(room, 1, 1000) : 1000);
}

RandomPlan reducePlan(const Description &description, const Binding &binding, DType dtype) {
  ReduceKind kind = description.as<ReduceAttributes>().kind;
  int64_t length = std::max<int64_t>(reference::reductionLength(description, binding), 1);
  DType output = description.outputs[0].dtype;
  if (isFloat(dtype)) {
    if (kind == ReduceKind::Prod)
      return {RandomPlan::Kind::NearOne, std::sqrt(static_cast<double>(length)), 0, 0};
    return normal(kind == ReduceKind::Sum ? 1 / std::sqrt(static_cast<double>(length)) : 1);
  }
  int64_t limit = isFloat(output) ? accumulatorLimit : std::min(maxValue(output), accumulatorLimit);
  if (kind == ReduceKind::Sum || kind == ReduceKind::Mean)
    return uniform(dtype, std::clamp<int64_t>(limit / length, 1, 1000));
  if (kind != ReduceKind::Prod)
    return uniform(dtype, 1000);
  if (!isUnsigned(dtype))
    return {RandomPlan::Kind::Sign, 1, 0, 0};
  bool hasRoom = length < 31 && (int64_t{1} << length) <= limit;
  return {RandomPlan::Kind::Uniform, 1, 1, hasRoom ? std::min<int64_t>(maxValue(dtype), 2) : 1};
}

/// Tables of decoding attention: pages that there are, lengths that fit them.
RandomPlan tablePlan(const Description &description, const Binding &binding, std::string_view name) {
  int64_t pages = binding(description.findInput("k_cache")->shape[0]);
  if (name == "block_table")
    return {RandomPlan::Kind::Pages, 1, 0, std::min(pages, accumulatorLimit) - 1};
  int64_t longest = pages > 0 ? reference::reductionLength(description, binding) : 0;
  return {RandomPlan::Kind::Lengths, 1, 0, std::min(longest, accumulatorLimit)};
}

/// Starts of sequences of attention: of queries, or of keys.
RandomPlan startsPlan(const Description &description, const Binding &binding, std::string_view name) {
  const Operand &rows = *description.findInput(name == "cu_seqlens_q" ? "q" : "k");
  return {RandomPlan::Kind::Starts, 1, 0, std::min(binding(rows.shape[2]), accumulatorLimit)};
}

RandomPlan castPlan(const Description &description, DType dtype) {
  DType output = description.outputs[0].dtype;
  if (!isFloat(dtype))
    return uniform(dtype, int64_t{1} << 20);
  // Wide enough for fractions, every exponent of a narrow float, and now and then a value that saturates.
  return normal(isFloat(output) ? 4 : std::clamp(static_cast<double>(maxValue(output)) / 2, 1.0, 1000.0));
}

/// Operands of one expression: products of two stay within the type.
RandomPlan elementwisePlan(DType dtype) {
  if (isFloat(dtype))
    return normal(1);
  auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(maxValue(dtype))));
  return uniform(dtype, std::clamp<int64_t>(root - 1, 1, 100));
}

} // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < rounds; ++round) {
    uint64_t even = uint64_t{multipliers[0]} * c[0], odd = uint64_t{multipliers[1]} * c[2];
    c = {static_cast<uint32_t>(odd >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(odd),
         static_cast<uint32_t>(even >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(even)};
    key[0] += keySteps[0];
    key[1] += keySteps[1];
  }
  return c;
}

RandomPlan randomPlan(const Description &description, const Binding &binding, int input) {
  DType dtype = description.inputs[static_cast<size_t>(input)].dtype;
  if (dtype == DType::Bool)
    return {RandomPlan::Kind::Uniform, 1, 0, 1};
  if (dtype == DType::F8E8M0)
    return {RandomPlan::Kind::PowerOfTwo, 1, -3, 3};
  if (dtype == DType::F4E2M1)
    return normal(2);
  switch (description.family) {
  case Family::Matmul:
    return matmulPlan(description, binding, input);
  case Family::Reduce:
    return reducePlan(description, binding, dtype);
  case Family::Softmax:
  case Family::LogSoftmax:
    return isFloat(dtype) ? normal(2) : uniform(dtype, 10);
  case Family::Cast:
    return castPlan(description, dtype);
  case Family::Elementwise:
    return elementwisePlan(dtype);
  case Family::Transpose:
    return isFloat(dtype) ? normal(1) : uniform(dtype, accumulatorLimit);
  case Family::Attention:
    return isFloat(dtype) ? normal(1)
                          : startsPlan(description, binding, description.inputs[static_cast<size_t>(input)].name);
  case Family::AttentionDecode:
    return isFloat(dtype) ? normal(1)
                          : tablePlan(description, binding, description.inputs[static_cast<size_t>(input)].name);
  default:
    return isFloat(dtype) ? normal(1) : uniform(dtype, 100);
  }
}

void fillRandom(const RandomPlan &plan, int input, uint64_t seed, HostTensor &tensor) {
  if (plan.kind == RandomPlan::Kind::Pages)
    return fillPages(plan, static_cast<uint32_t>(input), seed, tensor);
  bool isFloating = plan.kind == RandomPlan::Kind::Normal || plan.kind == RandomPlan::Kind::NearOne;
  (isFloating ? fillFloats : fillIntegers)(plan, static_cast<uint32_t>(input), seed, tensor);
  if (plan.kind == RandomPlan::Kind::Starts)
    sortStarts(plan, tensor);
  if (plan.kind == RandomPlan::Kind::Lengths && tensor.elements() > 0)
    storeIntegers(tensor.element(0), tensor.dtype(), std::span(&plan.high, 1));
}

void fillRandom(const Description &description, const Binding &binding, int input, uint64_t seed, HostTensor &tensor) {
  fillRandom(randomPlan(description, binding, input), input, seed, tensor);
}

Expected<HostTensor> randomInput(const Description &description, const Binding &binding, int input, uint64_t seed) {
  const Operand &operand = description.inputs[static_cast<size_t>(input)];
  TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor,
                           HostTensor::allocate(operand.dtype, reference::boundShape(operand, binding)));
  fillRandom(description, binding, input, seed, tensor);
  return tensor;
}

} // namespace tilejit
