// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operation and byte counts of the families.

#include "tilejit/Description/Cost.h"

#include <algorithm>

namespace tilejit {
namespace {

double expressionFlops(const Expression &expression) {
  auto counts = [](const ExprNode &node) {
    return node.op != ExprOp::Input && node.op != ExprOp::Constant && node.op != ExprOp::Cast;
  };
  return static_cast<double>(std::count_if(expression.nodes.begin(), expression.nodes.end(), counts));
}

/// Operations for each element of the input, where that is how they are counted.
double flopsPerElement(const Description &description) {
  switch (description.family) {
  case Family::Reduce:
    return 1;
  case Family::Softmax: // Maximum, difference, exponential, sum, quotient.
  case Family::LogSoftmax:
    return 5;
  case Family::LayerNorm: // Sum, difference, square and sum, scale; weight and bias.
    return 5 + static_cast<double>(description.inputs.size() - 1);
  case Family::RmsNorm:
    return 3 + static_cast<double>(description.inputs.size() - 1);
  default:
    return 0;
  }
}

} // namespace

/// Scores that count for the queries of one head: with `causal` the part below the diagonal, at most `window` wide.
static double visibleScores(const AttentionAttributes &attributes, int64_t queries, int64_t keys) {
  if (!attributes.causal)
    return static_cast<double>(queries) * static_cast<double>(keys);
  // Query i sees n = i + 1 + keys - queries of them, or the window: sums over n from `first` to `keys`.
  auto sumTo = [](double n) { return n * (n + 1) / 2; };
  auto last = static_cast<double>(keys), first = std::max<double>(1, last - static_cast<double>(queries) + 1);
  double all = sumTo(last) - sumTo(first - 1), width = last;
  if (attributes.window)
    width = std::min(width, static_cast<double>(*attributes.window));
  double beyond = std::max(0.0, last - width), before = std::max(0.0, first - 1 - width);
  return all - (sumTo(beyond) - sumTo(before));
}

/// Keys of a sequence; where they lie in pages, as many as its pages hold.
static int64_t keysOfSequence(const Description &description, const Binding &binding) {
  const std::vector<Dim> &keys = description.inputs[1].shape;
  if (description.family == Family::Attention)
    return binding(keys[2]);
  return binding(keys[1]) * binding(description.findInput("block_table")->shape[1]);
}

/// Two products of d terms for each score, and its softmax (scale, maximum, difference, exponential, sum), tanh, bias.
static double attentionFlops(const Description &description, const Binding &binding) {
  const Operand &q = description.inputs[0];
  const auto &attributes = description.as<AttentionAttributes>();
  double heads = static_cast<double>(binding(q.shape[0])) * static_cast<double>(binding(q.shape[1]));
  int64_t sequences = 1; // In a row, taken as equally long.
  if (const Operand *starts = description.findInput("cu_seqlens_q"))
    sequences = std::max<int64_t>(1, binding(starts->shape[0]) - 1);
  double scores =
      heads * static_cast<double>(sequences) *
      visibleScores(attributes, binding(q.shape[2]) / sequences, keysOfSequence(description, binding) / sequences);
  double each = 4 * static_cast<double>(binding(q.shape[3])) + 5 + (attributes.softcap ? 3 : 0) +
                (description.findInput("bias") ? 1 : 0);
  double steps = static_cast<double>(description.epilogue.size() * elementCount(description.outputs[0], binding));
  return scores * each + steps;
}

/// Pages of the caches that sequences can have, each counted once.
static int64_t pagesRead(const Description &description, const Binding &binding) {
  const std::vector<Dim> &table = description.findInput("block_table")->shape;
  return std::min(binding(description.inputs[1].shape[0]), binding(table[0]) * binding(table[1]));
}

int64_t elementCount(const Operand &operand, const Binding &binding) {
  int64_t count = 1;
  for (const Dim &dim : operand.shape)
    count *= binding(dim);
  return count;
}

double flops(const Description &description, const Binding &binding) {
  auto results = static_cast<double>(elementCount(description.outputs[0], binding));
  if (description.family == Family::Matmul) {
    const Operand &a = description.inputs[0];
    const Dim &k = a.shape[a.rank() - (description.as<MatmulAttributes>().transposeA ? 2 : 1)];
    return results * (2.0 * static_cast<double>(binding(k)) + static_cast<double>(description.epilogue.size()));
  }
  if (description.family == Family::Elementwise) {
    double perElement = 0;
    for (const Expression &expression : description.as<ElementwiseAttributes>().expressions)
      perElement += expressionFlops(expression);
    return results * perElement;
  }
  if (isAttention(description.family))
    return attentionFlops(description, binding);
  return static_cast<double>(elementCount(description.inputs[0], binding)) * flopsPerElement(description);
}

int64_t bytesMoved(const Description &description, const Binding &binding) {
  int64_t bytes = 0;
  for (const std::vector<Operand> *operands : {&description.inputs, &description.outputs})
    for (const Operand &operand : *operands) {
      int64_t elements = elementCount(operand, binding);
      bool isCache = description.family == Family::AttentionDecode &&
                     (&operand == &description.inputs[1] || &operand == &description.inputs[2]);
      if (isCache && elements > 0)
        elements = elements / binding(operand.shape[0]) * pagesRead(description, binding);
      bytes += elements * storageBytes(operand.dtype);
    }
  return bytes;
}

} // namespace tilejit
