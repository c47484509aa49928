// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// An operand in shared memory is stored to after the product is done.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90a
// OPT: 2
// LAUNCH: --kernel k --grid 1 --block 128
// EXPECT: clean

#include "gpu.h"

__device__ int place(int row, int k) { return (row / 8 * 2 + k / 8) * 64 + row % 8 * 8 + k % 8; }

__device__ int sum(int row, int column) {
  int result = 0;
  for (int k = 0; k < 16; ++k)
    result += sample(row * 16 + k, 65) * sample(column * 16 + k, 66);
  return result;
}

KERNEL k() {
  __shared__ __attribute__((aligned(128))) half left[64 * 16], right[8 * 16];
  int i = threadIdx.x, row0 = i / 32 * 16 + i % 32 / 4, column0 = i % 4 * 2;
  for (int j = i; j < 64 * 16; j += 128)
    left[place(j / 16, j % 16)] = sample(j, 65);
  right[place(i / 16, i % 16)] = sample(i, 66);
  fenceProxyAsync();
  __syncthreads();
  float4 d = {0, 0, 0, 0};
  wgmmaFence(d);
  wgmmaN8(d, operandDescriptor(left, 128, 256), operandDescriptor(right, 128, 256));
  wgmmaCommit();
  if (!fault) {
    wgmmaWait<0>(d);
    __syncthreads();
  }
  left[i] = half(0);
  wgmmaWait<0>(d);
  for (int j = 0; j < 4; ++j)
    check(d[j] == sum(row0 + j / 2 * 8, column0 + j % 2));
}
