// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Accumulators stay in vector registers over the whole depth of a panel.

#include "MatmulKernel.h"

#include "Vectors.h"

#include <cmath>
#include <cstring>

namespace tilejit::reference {
namespace {

typedef double Vector __attribute__((vector_size(64)));
typedef long long Mask __attribute__((vector_size(64)));

constexpr size_t width = sizeof(Vector) / sizeof(double), vectors = kernelColumns / width;

template <size_t Rows>
[[gnu::always_inline]] inline void multiply(const double *a, size_t aStride, const double *panel, size_t k,
                                            double *value, double *size, size_t outStride) {
  Vector values[Rows][vectors] = {}, sizes[Rows][vectors] = {};
  for (size_t i = 0; i < k; ++i) {
    for (size_t v = 0; v < vectors; ++v) {
      Vector b;
      std::memcpy(&b, panel + i * kernelColumns + v * width, sizeof b);
      Mask bits;
      std::memcpy(&bits, &b, sizeof b);
      bits &= 0x7fffffffffffffff;
      Vector magnitude;
      std::memcpy(&magnitude, &bits, sizeof bits);
      for (size_t row = 0; row < Rows; ++row) {
        double factor = a[row * aStride + i];
        values[row][v] += factor * b;
        sizes[row][v] += std::fabs(factor) * magnitude;
      }
    }
  }
  for (size_t row = 0; row < Rows; ++row)
    for (size_t column = 0; column < kernelColumns; ++column) {
      value[row * outStride + column] += values[row][column / width][column % width];
      size[row * outStride + column] += sizes[row][column / width][column % width];
    }
}

} // namespace

TILEJIT_VECTOR_CLONES void multiplyPanel(const double *a, size_t aStride, size_t rows, const double *panel, size_t k,
                                         double *value, double *size, size_t outStride) {
  size_t row = 0;
  for (; row + kernelRows <= rows; row += kernelRows)
    multiply<kernelRows>(a + row * aStride, aStride, panel, k, value + row * outStride, size + row * outStride,
                         outStride);
  for (; row < rows; ++row)
    multiply<1>(a + row * aStride, aStride, panel, k, value + row * outStride, size + row * outStride, outStride);
}

} // namespace tilejit::reference
