// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Arithmetic of shapes.

#include "Shapes.h"

#include "tilejit/Reference/HostTensor.h"

namespace tilejit::reference {

Shape boundShape(const Operand &operand, const Binding &binding) {
  Shape shape;
  for (const Dim &dim : operand.shape)
    shape.push_back(binding(dim));
  return shape;
}

Shape broadcastStrides(std::span<const int64_t> shape, std::span<const int64_t> target) {
  Shape dense = denseStrides(shape), strides(target.size(), 0);
  size_t missing = target.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    strides[missing + i] = shape[i] == 1 ? 0 : dense[i];
  return strides;
}

int64_t offsetOf(int64_t index, std::span<const int64_t> shape, std::span<const int64_t> strides) {
  int64_t offset = 0;
  for (size_t i = shape.size(); i-- > 0;) {
    offset += index % shape[i] * strides[i];
    index /= shape[i];
  }
  return offset;
}

int64_t product(std::span<const int64_t> shape, size_t first, size_t last) {
  return elementCount(shape.subspan(first, last - first));
}

int64_t reductionLength(const Description &description, const Binding &binding) {
  Shape shape = boundShape(description.inputs[0], binding);
  switch (description.family) {
  case Family::Matmul:
    return shape[shape.size() - (description.as<MatmulAttributes>().transposeA ? 2 : 1)];
  case Family::Reduce: {
    int64_t length = 1;
    for (int axis : description.as<ReduceAttributes>().axes)
      length *= shape[static_cast<size_t>(axis)];
    return length;
  }
  case Family::Softmax:
  case Family::LogSoftmax:
    return shape[static_cast<size_t>(description.as<SoftmaxAttributes>().axis)];
  case Family::LayerNorm:
  case Family::RmsNorm:
    return product(shape, static_cast<size_t>(description.as<NormAttributes>().axis), shape.size());
  case Family::Attention:
    return boundShape(description.inputs[1], binding)[2];
  case Family::AttentionDecode:
    return binding(description.inputs[1].shape[1]) * binding(description.findInput("block_table")->shape[1]);
  default:
    return 1;
  }
}

} // namespace tilejit::reference
