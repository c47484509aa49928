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
  return static_cast<double>(elementCount(description.inputs[0], binding)) * flopsPerElement(description);
}

int64_t bytesMoved(const Description &description, const Binding &binding) {
  int64_t bytes = 0;
  for (const std::vector<Operand> *operands : {&description.inputs, &description.outputs})
    for (const Operand &operand : *operands)
      bytes += elementCount(operand, binding) * storageBytes(operand.dtype);
  return bytes;
}

} // namespace tilejit
