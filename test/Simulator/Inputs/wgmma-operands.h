// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the pairs about wgmma share: the operands of one m64n8k16 product in the layout without a swizzle, and what each
// thread's four sums must be.

#ifndef TILEJIT_TEST_SIMULATOR_WGMMA_OPERANDS_H
#define TILEJIT_TEST_SIMULATOR_WGMMA_OPERANDS_H

#include "gpu.h"

#define WGMMA_OPERANDS(left, right) __shared__ __attribute__((aligned(128))) half left[64 * 16], right[8 * 16]

__device__ __forceinline int place(int row, int k) { return (row / 8 * 2 + k / 8) * 64 + row % 8 * 8 + k % 8; }

/// All 128 threads fill both operands.
__device__ __forceinline void fillOperands(half *left, half *right) {
  int i = threadIdx.x;
  for (int j = i; j < 64 * 16; j += 128)
    left[place(j / 16, j % 16)] = sample(j, 65);
  right[place(i / 16, i % 16)] = sample(i, 66);
}

/// The sum that element `j` of the calling thread's fragment holds after the product.
__device__ __forceinline int sumOf(int j) {
  int i = threadIdx.x, row = i / 32 * 16 + i % 32 / 4 + j / 2 * 8, column = i % 4 * 2 + j % 2, result = 0;
  for (int k = 0; k < 16; ++k)
    result += sample(row * 16 + k, 65) * sample(column * 16 + k, 66);
  return result;
}

#endif // TILEJIT_TEST_SIMULATOR_WGMMA_OPERANDS_H
