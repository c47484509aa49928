// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Checks of a call, the choice of the family, its cost, and rounding of results to their types.

#include "tilejit/Reference/Reference.h"

#include "Families.h"
#include "Parallel.h"
#include "tilejit/Base/Float.h"

#include <algorithm>
#include <new>
#include <stdexcept>

namespace tilejit {
namespace {

using reference::Call;
using reference::Shape;

Status checkInputs(const Description &description, const Binding &binding, std::span<const HostTensor> inputs) {
  if (inputs.size() != description.inputs.size())
    return {StatusCode::InvalidArgument,
            std::to_string(inputs.size()) + " inputs, expected " + std::to_string(description.inputs.size())};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Operand &operand = description.inputs[i];
    Shape shape = reference::boundShape(operand, binding);
    if (inputs[i].dtype() != operand.dtype || inputs[i].shape() != shape)
      return {StatusCode::InvalidArgument,
              "input " + operand.name + " has shape " + tensorShapeText(inputs[i].shape()) + " and dtype " +
                  std::string(dtypeName(inputs[i].dtype())) + ", expected " + tensorShapeText(shape) + " and " +
                  std::string(dtypeName(operand.dtype))};
  }
  return Status::ok();
}

void evaluateFamily(Call &call) {
  switch (call.description.family) {
  case Family::Matmul:
    return reference::evaluateMatmul(call);
  case Family::Elementwise:
    return reference::evaluateElementwise(call);
  case Family::Reduce:
    return reference::evaluateReduce(call);
  case Family::Softmax:
  case Family::LogSoftmax:
    return reference::evaluateSoftmax(call);
  case Family::LayerNorm:
  case Family::RmsNorm:
    return reference::evaluateNorm(call);
  case Family::Transpose:
    return reference::evaluateTranspose(call);
  case Family::Cast:
    return reference::evaluateCast(call);
  case Family::Attention:
  case Family::AttentionDecode:
    return reference::evaluateAttention(call);
  }
}

/// Costs in floating-point operations, measured coarsely: what loading, checking and storing an element takes, and a
/// function of a library.
constexpr double elementFlops = 40, nodeFlops = 15, functionFlops = 60;

bool isFunction(ExprOp op) {
  return op == ExprOp::Pow || op == ExprOp::Mod || (op >= ExprOp::Exp && op <= ExprOp::Softplus);
}

double epilogueFlops(const Description &description) {
  double flops = 0;
  for (const EpilogueStep &step : description.epilogue)
    flops += step.kind >= EpilogueStep::Kind::Silu ? functionFlops : nodeFlops;
  return flops;
}

double expressionFlops(const Description &description) {
  double flops = 0;
  for (const Expression &expression : description.as<ElementwiseAttributes>().expressions) {
    flops += elementFlops;
    for (const ExprNode &node : expression.nodes)
      flops += isFunction(node.op) ? functionFlops : nodeFlops;
  }
  return flops;
}

} // namespace

ReferenceCost referenceCost(const Description &description, const Binding &binding) {
  Shape shape = reference::boundShape(description.outputs[0], binding);
  for (const Operand &output : description.outputs)
    if (Shape other = reference::boundShape(output, binding); elementCount(other) > elementCount(shape))
      shape = other;
  auto length = static_cast<double>(reference::lastDimension(shape));
  auto terms = static_cast<double>(reference::reductionLength(description, binding));
  if (elementCount(shape) == 0)
    return {0, 0};
  switch (description.family) {
  case Family::Matmul:
    return {length * (2 * terms + elementFlops + epilogueFlops(description)), reference::rowsOf(shape)};
  case Family::Elementwise:
    return {length * expressionFlops(description), reference::rowsOf(shape)};
  case Family::Reduce:
    return {terms * nodeFlops + elementFlops, elementCount(shape)};
  case Family::Softmax:
  case Family::LogSoftmax:
  case Family::LayerNorm:
  case Family::RmsNorm:
    return {terms * (elementFlops + functionFlops), elementCount(shape) / std::max<int64_t>(int64_t(terms), 1)};
  case Family::Attention:
  case Family::AttentionDecode: // Two products, each with the sum of its terms' sizes; a function for each score, or
                                // two.
    return {terms * (8 * length + elementFlops + 2 * functionFlops), reference::rowsOf(shape)};
  default:
    return {length * elementFlops, reference::rowsOf(shape)};
  }
}

Status evaluateReference(const Description &description, const Binding &binding, std::span<const HostTensor> inputs,
                         std::vector<ReferenceTensor> &outputs, const RowSelection *selection) {
  TILEJIT_RETURN_IF_ERROR(checkInputs(description, binding, inputs));
  TILEJIT_RETURN_IF_ERROR(reference::checkTables({description, binding, inputs, selection, outputs}));
  outputs.clear();
  bool isEmpty = true;
  for (const Operand &operand : description.outputs) {
    ReferenceTensor output;
    output.name = operand.name;
    output.dtype = operand.dtype;
    output.shape = reference::boundShape(operand, binding);
    isEmpty &= elementCount(output.shape) == 0;
    outputs.push_back(std::move(output));
  }
  if (isEmpty)
    return Status::ok();
  try {
    Call call{description, binding, inputs, selection, outputs};
    evaluateFamily(call);
  } catch (const std::bad_alloc &) {
    outputs.clear();
    return {StatusCode::OutOfMemory, "no memory for the reference of " + std::string(familyName(description.family))};
  } catch (const std::length_error &) {
    outputs.clear();
    return {StatusCode::OutOfMemory, "no memory for the reference of " + std::string(familyName(description.family))};
  }
  return Status::ok();
}

Status referenceRun(const Description &description, const Binding &binding, std::span<const HostTensor> inputs,
                    std::vector<HostTensor> &outputs) {
  std::vector<ReferenceTensor> results;
  TILEJIT_RETURN_IF_ERROR(evaluateReference(description, binding, inputs, results));
  outputs.clear();
  for (const ReferenceTensor &result : results) {
    TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::allocate(result.dtype, result.shape));
    constexpr int64_t grain = 1 << 16;
    reference::parallelFor(result.size(), grain, [&](int64_t begin, int64_t end) {
      auto first = static_cast<size_t>(begin), count = static_cast<size_t>(end - begin);
      if (isFloat(result.dtype))
        storeDoubles(tensor.element(begin), result.dtype, std::span(result.values).subspan(first, count));
      else
        storeIntegers(tensor.element(begin), result.dtype, std::span(result.integers).subspan(first, count));
    });
    outputs.push_back(std::move(tensor));
  }
  return Status::ok();
}

} // namespace tilejit
