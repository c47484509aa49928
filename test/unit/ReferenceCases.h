// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Descriptions and tensors made by hand for the tests of the reference: what the parser would give, without the parser.

#ifndef TILEJIT_TEST_REFERENCECASES_H
#define TILEJIT_TEST_REFERENCECASES_H

#include "tilejit/Base/Float.h"
#include "tilejit/Description/Description.h"
#include "tilejit/Reference/HostTensor.h"

#include <string>
#include <vector>

namespace tilejit::test {

using Shape = std::vector<int64_t>;

inline Operand operand(std::string name, DType dtype, const Shape &shape) {
  Operand result;
  result.name = std::move(name);
  result.dtype = dtype;
  for (int64_t size : shape)
    result.shape.push_back({size, -1});
  return result;
}

inline Shape sizes(const Operand &operand) {
  Shape shape;
  for (const Dim &dim : operand.shape)
    shape.push_back(dim.size);
  return shape;
}

/// Two-dimensional product; the accumulator follows from the type.
inline Description makeMatmul(DType dtype, const Shape &a, const Shape &b, DType out = DType::F32) {
  Description description;
  description.family = Family::Matmul;
  MatmulAttributes attributes;
  attributes.accumulate = dtype == DType::F64 ? DType::F64 : isFloat(dtype) ? DType::F32 : DType::I32;
  description.attributes = attributes;
  Shape c(a.begin(), a.end() - 1);
  c.push_back(b.back());
  description.inputs = {operand("a", dtype, a), operand("b", dtype, b)};
  description.outputs = {operand("c", out, c)};
  return description;
}

inline Description makeReduce(ReduceKind kind, DType dtype, const Shape &shape, std::vector<int> axes,
                              DType out = DType::F32, bool keepdims = false) {
  Description description;
  description.family = Family::Reduce;
  Shape y;
  for (size_t i = 0; i < shape.size(); ++i) {
    bool reduced = false;
    for (int axis : axes)
      reduced |= static_cast<size_t>(axis) == i;
    if (!reduced)
      y.push_back(shape[i]);
    else if (keepdims)
      y.push_back(1);
  }
  description.attributes = ReduceAttributes{kind, std::move(axes), keepdims};
  description.inputs = {operand("x", dtype, shape)};
  description.outputs = {operand("y", out, y)};
  return description;
}

inline Description makeTranspose(DType dtype, const Shape &shape, std::vector<int> permutation) {
  Description description;
  description.family = Family::Transpose;
  Shape y;
  for (int i : permutation)
    y.push_back(shape[static_cast<size_t>(i)]);
  description.attributes = TransposeAttributes{std::move(permutation)};
  description.inputs = {operand("x", dtype, shape)};
  description.outputs = {operand("y", dtype, y)};
  return description;
}

inline Description makeCast(DType from, DType to, const Shape &shape, bool saturate = false) {
  Description description;
  description.family = Family::Cast;
  description.attributes = CastAttributes{saturate};
  description.inputs = {operand("x", from, shape)};
  description.outputs = {operand("y", to, shape)};
  return description;
}

inline Description makeSoftmax(Family family, DType dtype, const Shape &shape, int axis) {
  Description description;
  description.family = family;
  description.attributes = SoftmaxAttributes{axis};
  description.inputs = {operand("x", dtype, shape)};
  description.outputs = {operand("y", dtype, shape)};
  return description;
}

inline HostTensor tensorOf(DType dtype, Shape shape, const std::vector<double> &values) {
  HostTensor tensor = *HostTensor::allocate(dtype, std::move(shape));
  storeDoubles(tensor.data(), dtype, values);
  return tensor;
}

inline std::vector<double> values(const HostTensor &tensor) {
  std::vector<double> result(static_cast<size_t>(tensor.elements()));
  loadDoubles(tensor.data(), tensor.dtype(), result);
  return result;
}

} // namespace tilejit::test

#endif // TILEJIT_TEST_REFERENCECASES_H
