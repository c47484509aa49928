// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Memory and arithmetic of shapes, with sizes checked before anything is multiplied or allocated.

#include "tilejit/Reference/HostTensor.h"

#include <algorithm>
#include <cstring>

namespace tilejit {
namespace {

constexpr int64_t byteLimit = int64_t{1} << 46;

} // namespace

std::optional<int64_t> denseBytes(DType dtype, std::span<const int64_t> shape) {
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    empty |= size == 0;
  }
  if (empty)
    return 0;
  int64_t bytes = storageBytes(dtype);
  for (int64_t size : shape) {
    if (size > byteLimit / bytes)
      return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

std::vector<int64_t> denseStrides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(shape[i], 1);
  return strides;
}

int64_t elementCount(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size == 0)
      return 0;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string tensorShapeText(std::span<const int64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

Expected<HostTensor> HostTensor::allocate(DType dtype, std::vector<int64_t> shape) {
  std::optional<int64_t> bytes = denseBytes(dtype, shape);
  if (!bytes)
    return Status(StatusCode::InvalidArgument, "a tensor of shape " + tensorShapeText(shape) + " and type " +
                                                   std::string(dtypeName(dtype)) +
                                                   " has a negative size or more than 2^46 bytes");
  size_t rounded = (static_cast<size_t>(*bytes) + alignment) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, rounded);
  if (!memory)
    return Status(StatusCode::OutOfMemory, "no memory for a tensor of shape " + tensorShapeText(shape) + ", " +
                                               std::to_string(*bytes) + " bytes");
  HostTensor tensor;
  tensor.dtype_ = dtype;
  tensor.strides_ = denseStrides(shape);
  tensor.elements_ = *bytes / storageBytes(dtype);
  tensor.shape_ = std::move(shape);
  tensor.bytes_.reset(static_cast<std::byte *>(memory));
  return tensor;
}

void HostTensor::fillBytes(uint8_t value) {
  if (bytes_)
    std::memset(bytes_.get(), value, sizeInBytes());
}

Expected<HostTensor> HostTensor::clone() const {
  TILEJIT_ASSIGN_OR_RETURN(HostTensor copy, allocate(dtype_, shape_));
  if (elements_ > 0)
    std::memcpy(copy.data(), data(), sizeInBytes());
  return copy;
}

} // namespace tilejit
