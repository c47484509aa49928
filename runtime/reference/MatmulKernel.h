// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The inner loop of the reference's matrix product: products and products of sizes, in double precision.

#ifndef TILEJIT_REFERENCE_MATMULKERNEL_H
#define TILEJIT_REFERENCE_MATMULKERNEL_H

#include <cstddef>

namespace tilejit::reference {

/// Columns that the kernel works on at once.
inline constexpr size_t kernelColumns = 16;
/// Rows that it works on at once where there are as many.
inline constexpr size_t kernelRows = 4;

/// Adds to `value` the products of `rows` rows of a (k long, `aStride` apart) with a panel [k][kernelColumns], and to
/// `size` the products of their absolute values. Rows of both are `outStride` apart.
void multiplyPanel(const double *a, size_t aStride, size_t rows, const double *panel, size_t k, double *value,
                   double *size, size_t outStride);

} // namespace tilejit::reference

#endif // TILEJIT_REFERENCE_MATMULKERNEL_H
