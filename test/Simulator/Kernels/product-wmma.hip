// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Product of f16 matrices, b given transposed, by WMMA 16x16x16, a wave a tile, fragments read from memory with bounds.
// On gfx11 both halves of the wave hold the same operands; on gfx12 each holds its own part of k.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx1100 gfx1201
// CASE: m=16 n=16 k=16 gx=1 gy=1
// CASE: m=17 n=40 k=37 gx=3 gy=2
// LAUNCH: --kernel fill --grid 4 --block 128 --arg out:%t.a.npy:f16[{m},{k}] --arg out:%t.b.npy:f16[{n},{k}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel product --grid {gx},{gy} --block 32 --arg in:%t.a.npy --arg in:%t.b.npy --arg out:%t.c.npy:f32[{m},{n}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.c.npy --arg i32:{m} --arg i32:{n} --arg i32:{k}

#include "gpu.h"

KERNEL fill(half *a, half *b, int m, int n, int k) {
  for (int i = globalThread(); i < m * k; i += globalThreads())
    a[i] = sample(i, 44);
  for (int i = globalThread(); i < k * n; i += globalThreads())
    b[i] = sample(i, 45);
}

#ifdef __GFX11__
using Fragment = half16;
__device__ int columnOf(int element, unsigned) { return element; }
__device__ int rowOf(int r, unsigned lane) { return 2 * r + lane / 16; }
__device__ float8 multiply(Fragment a, Fragment b, float8 c) {
  return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);
}
#else
using Fragment = half8;
__device__ int columnOf(int element, unsigned lane) { return element / 4 * 8 + lane / 16 * 4 + element % 4; }
__device__ int rowOf(int r, unsigned lane) { return lane / 16 * 8 + r; }
__device__ float8 multiply(Fragment a, Fragment b, float8 c) {
  return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c);
}
#endif

__device__ Fragment load(const half *from, int row, int rows, int base, int columns, unsigned lane) {
  Fragment result;
  for (int e = 0; e < static_cast<int>(sizeof(Fragment) / sizeof(half)); ++e) {
    int column = base + columnOf(e, lane);
    result[e] = row < rows && column < columns ? from[row * columns + column] : half(0);
  }
  return result;
}

KERNEL product(const half *a, const half *b, float *c, int m, int n, int k) {
  unsigned lane = threadIdx.x;
  int row0 = blockIdx.y * 16, column0 = blockIdx.x * 16;
  float8 sum = {};
  for (int base = 0; base < k; base += 16)
    sum = multiply(load(a, row0 + lane % 16, m, base, k, lane), load(b, column0 + lane % 16, n, base, k, lane), sum);
  for (int r = 0; r < 8; ++r) {
    int row = row0 + rowOf(r, lane), column = column0 + lane % 16;
    if (row < m && column < n)
      c[row * n + column] = sum[r];
  }
}

KERNEL check(const float *c, int m, int n, int k) {
  for (int i = threadIdx.x; i < m * n; i += blockDim.x) {
    int sum = 0;
    for (int l = 0; l < k; ++l)
      sum += sample(i / n * k + l, 44) * sample(i % n * k + l, 45);
    expect(c[i] == sum);
  }
}
