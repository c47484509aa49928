// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// An array in host memory: element type, shape, bytes. Dense, row-major, aligned to 64 bytes; owns its memory and moves
// without copying. What files are read into, kernels are run on and references are computed from.

#ifndef TILEJIT_REFERENCE_HOSTTENSOR_H
#define TILEJIT_REFERENCE_HOSTTENSOR_H

#include "tilejit/Base/DType.h"
#include "tilejit/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilejit {

class HostTensor {
public:
  static constexpr size_t alignment = 64;

  /// A rank-1 tensor of no elements.
  HostTensor() = default;

  /// A tensor whose bytes are not initialised. Refuses negative sizes, more than 2^46 bytes, and what memory refuses.
  static Expected<HostTensor> allocate(DType dtype, std::vector<int64_t> shape);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t> &shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  /// In elements.
  const std::vector<int64_t> &strides() const { return strides_; }
  int64_t elements() const { return elements_; }
  size_t sizeInBytes() const { return static_cast<size_t>(elements_) * static_cast<size_t>(storageBytes(dtype_)); }

  /// Never null for an allocated tensor, also of no elements.
  void *data() { return bytes_.get(); }
  const void *data() const { return bytes_.get(); }
  std::span<std::byte> bytes() { return {bytes_.get(), sizeInBytes()}; }
  std::span<const std::byte> bytes() const { return {bytes_.get(), sizeInBytes()}; }
  /// The address of an element by its place in row-major order.
  const std::byte *element(int64_t index) const { return bytes_.get() + index * storageBytes(dtype_); }
  std::byte *element(int64_t index) { return bytes_.get() + index * storageBytes(dtype_); }

  /// Sets every byte.
  void fillBytes(uint8_t value);
  Expected<HostTensor> clone() const;

private:
  struct Free {
    void operator()(std::byte *bytes) const { std::free(bytes); }
  };
  DType dtype_ = DType::F32;
  std::vector<int64_t> shape_{0};
  std::vector<int64_t> strides_{1};
  int64_t elements_ = 0;
  std::unique_ptr<std::byte, Free> bytes_;
};

/// Bytes of a dense tensor; nothing where a size is negative or the product exceeds 2^46.
std::optional<int64_t> denseBytes(DType dtype, std::span<const int64_t> shape);
/// Row-major strides in elements.
std::vector<int64_t> denseStrides(std::span<const int64_t> shape);
/// Product of the sizes.
int64_t elementCount(std::span<const int64_t> shape);
/// "(4, 6)", "(3,)", "()": shapes as NumPy prints them.
std::string tensorShapeText(std::span<const int64_t> shape);

} // namespace tilejit

#endif // TILEJIT_REFERENCE_HOSTTENSOR_H
