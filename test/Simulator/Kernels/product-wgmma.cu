// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// 64x8 product over k in steps of 16 by wgmma on halves: both operands in shared memory as core matrices of 8 rows of
// 16 bytes, stored by the generic proxy, so that a proxy fence has to come before the product reads them. Without
// optimisation the accumulator would go through the stack while it is in flight.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90a
// OPT: 2
// CASE: k=16 m=64 n=8
// CASE: k=64 m=64 n=8
// CASE: k=48 m=61 n=5
// LAUNCH: --kernel fill --grid 4 --block 128 --arg out:%t.a.npy:f16[{m},{k}] --arg out:%t.b.npy:f16[{n},{k}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel product --grid 1 --block 128 --arg in:%t.a.npy --arg in:%t.b.npy --arg out:%t.c.npy:f32[{m},{n}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.c.npy --arg i32:{m} --arg i32:{n} --arg i32:{k}

#include "gpu.h"

KERNEL fill(half *a, half *b, int m, int n, int k) {
  for (int i = globalThread(); i < m * k; i += globalThreads())
    a[i] = sample(i, 26);
  for (int i = globalThread(); i < k * n; i += globalThreads())
    b[i] = sample(i, 27);
}

/// Core matrix (row / 8, k / 8) has 64 elements; the two along k are neighbours.
__device__ int place(int row, int k) { return (row / 8 * 2 + k / 8) * 64 + row % 8 * 8 + k % 8; }

KERNEL product(const half *a, const half *b, float *c, int m, int n, int k) {
  __shared__ __attribute__((aligned(128))) half left[64 * 16], right[8 * 16];
  float4 sum = {0, 0, 0, 0};
  for (int base = 0; base < k; base += 16) {
    for (int i = threadIdx.x; i < 64 * 16; i += blockDim.x)
      left[place(i / 16, i % 16)] = i / 16 < m ? a[i / 16 * k + base + i % 16] : half(0);
    int row = threadIdx.x / 16, column = threadIdx.x % 16;
    right[place(row, column)] = row < n ? b[row * k + base + column] : half(0);
    fenceProxyAsync();
    __syncthreads();
    wgmmaFence(sum);
    wgmmaN8(sum, operandDescriptor(left, 128, 256), operandDescriptor(right, 128, 256));
    wgmmaCommit();
    wgmmaWait<0>(sum);
    __syncthreads();
  }
  unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < 4; ++i) {
    int row = warp * 16 + lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    if (row < m && column < n)
      c[row * n + column] = sum[i];
  }
}

KERNEL check(const float *c, int m, int n, int k) {
  for (int i = threadIdx.x; i < m * n; i += blockDim.x) {
    int sum = 0;
    for (int l = 0; l < k; ++l)
      sum += sample(i / n * k + l, 26) * sample(i % n * k + l, 27);
    expect(c[i] == sum);
  }
}
