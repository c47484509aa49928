// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The arithmetic of warpgroup products for the 16 rows of one warp: from raw operand bytes and accumulator registers to
// accumulator registers. Products of elements are exact; sums are rounded to f32 (to f16 at the end where D is), along
// k.

#ifndef TILEJIT_SIMULATOR_NVIDIA_WARPGROUPNUMBERS_H
#define TILEJIT_SIMULATOR_NVIDIA_WARPGROUPNUMBERS_H

#include "nvidia/WarpgroupProduct.h"

namespace tilejit::sim {

inline constexpr unsigned productRows = 16, productBytes = 32, mostColumns = 256;

/// Operands as they lie along k: 32 bytes for each row of A and each column of B.
struct ProductOperands {
  alignas(64) uint8_t a[productRows][productBytes];
  alignas(64) uint8_t b[mostColumns][productBytes];
};

/// d[i] = (keep ? d[i] : 0) + A * B, in the registers of 32 lanes each.
void multiplyRows(const ProductSpec &spec, const ProductOperands &operands, bool keep, uint32_t *const *from,
                  uint32_t *const *to);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_WARPGROUPNUMBERS_H
