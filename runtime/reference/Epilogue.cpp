// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Steps of an epilogue. Integer steps of an integer product are exact in i32 and wrap; the first floating operand,
// scale or function turns the row into f32, rounding once, and it stays so.

#include "Epilogue.h"

#include <algorithm>

namespace tilejit::reference {
namespace {

using Kind = EpilogueStep::Kind;

bool hasOperand(Kind kind) { return kind == Kind::Add || kind == Kind::Sub || kind == Kind::Mul; }

bool keepsIntegers(const EpilogueStep &step, const HostTensor *operand) {
  return hasOperand(step.kind) ? !isFloat(operand->dtype()) : step.kind == Kind::Relu || step.kind == Kind::Clamp;
}

ExprOp functionOf(Kind kind) {
  switch (kind) {
  case Kind::Relu:
    return ExprOp::Relu;
  case Kind::Silu:
    return ExprOp::Silu;
  case Kind::Sigmoid:
    return ExprOp::Sigmoid;
  case Kind::Tanh:
    return ExprOp::Tanh;
  case Kind::GeluTanh:
    return ExprOp::GeluTanh;
  default:
    return ExprOp::Gelu;
  }
}

} // namespace

Epilogue::Epilogue(const Call &call, DType format) : shape_(call.outputShape(0)), arithmetic_(format) {
  for (const EpilogueStep &step : call.description.epilogue) {
    Step prepared{step, nullptr, {}};
    if (hasOperand(step.kind)) {
      prepared.operand = &call.inputs[static_cast<size_t>(step.input)];
      prepared.strides = broadcastStrides(prepared.operand->shape(), shape_);
    }
    steps_.push_back(std::move(prepared));
  }
}

void Epilogue::apply(int64_t row, EpilogueRow &data) const {
  for (const Step &step : steps_) {
    int64_t offset = step.operand ? offsetOf(row * lastDimension(shape_), shape_, step.strides) : 0;
    if (data.isInteger && keepsIntegers(step.step, step.operand)) {
      applyInteger(step, offset, data);
      continue;
    }
    if (data.isInteger) {
      data.isInteger = false;
      data.values.resize(data.integers.size());
      for (size_t i = 0; i < data.values.size(); ++i)
        data.values[i] = {roundToFloat(integerToFloat(data.integers[i], arithmetic_.format), arithmetic_.format), 0};
    }
    applyFloat(step, offset, data);
  }
}

void Epilogue::applyInteger(const Step &step, int64_t offset, EpilogueRow &data) const {
  int64_t low = floatToInteger(step.step.min, DType::I32), high = floatToInteger(step.step.max, DType::I32);
  for (size_t i = 0; i < data.integers.size(); ++i) {
    int64_t &value = data.integers[i];
    int64_t operand = 0;
    if (step.operand)
      operand = wrapInteger(loadAsInteger(step.operand->element(offset + static_cast<int64_t>(i) * step.strides.back()),
                                          step.operand->dtype()),
                            DType::I32);
    switch (step.step.kind) {
    case Kind::Add:
      value = wrapInteger(value + operand, DType::I32);
      break;
    case Kind::Sub:
      value = wrapInteger(value - operand, DType::I32);
      break;
    case Kind::Mul:
      value = wrapInteger(value * operand, DType::I32);
      break;
    case Kind::Relu:
      value = std::max<int64_t>(value, 0);
      break;
    default:
      value = std::min(std::max(value, low), high);
    }
  }
}

Bounded Epilogue::operandAt(const Step &step, int64_t offset, size_t column) const {
  const HostTensor &x = *step.operand;
  const std::byte *element = x.element(offset + static_cast<int64_t>(column) * step.strides.back());
  double value = isFloat(x.dtype()) ? loadAsDouble(element, x.dtype())
                                    : integerToFloat(loadAsInteger(element, x.dtype()), arithmetic_.format);
  // An operand wider than the accumulator is converted to its type first.
  return {roundToFloat(value, arithmetic_.format), 0};
}

void Epilogue::applyFloat(const Step &step, int64_t offset, EpilogueRow &data) const {
  DType format = arithmetic_.format;
  Bounded factor{roundToFloat(step.step.value, format), 0};
  double low = roundToFloat(step.step.min, format), high = roundToFloat(step.step.max, format);
  for (size_t i = 0; i < data.values.size(); ++i) {
    Bounded &value = data.values[i];
    switch (step.step.kind) {
    case Kind::Add:
      value = arithmetic_.add(value, operandAt(step, offset, i));
      break;
    case Kind::Sub:
      value = arithmetic_.sub(value, operandAt(step, offset, i));
      break;
    case Kind::Mul:
      value = arithmetic_.mul(value, operandAt(step, offset, i));
      break;
    case Kind::Scale:
      value = arithmetic_.mul(value, factor);
      break;
    case Kind::Clamp:
      value = clamp(value, low, high);
      break;
    default:
      value = arithmetic_.apply(functionOf(step.step.kind), value);
    }
  }
}

} // namespace tilejit::reference
