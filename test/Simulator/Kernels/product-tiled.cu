// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Product of two f32 matrices in 16x16 tiles through shared memory; edges are filled with zeros.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// CASE: m=16 n=16 k=16 gx=1 gy=1
// CASE: m=17 n=35 k=9 gx=3 gy=2
// CASE: m=1 n=1 k=40 gx=1 gy=1
// LAUNCH: --kernel fill --grid 4 --block 128 --arg out:%t.a.npy:f32[{m},{k}] --arg out:%t.b.npy:f32[{k},{n}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel product --grid {gx},{gy} --block 16,16 --arg in:%t.a.npy --arg in:%t.b.npy --arg out:%t.c.npy:f32[{m},{n}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel check --grid 1 --block 64 --arg in:%t.c.npy --arg i32:{m} --arg i32:{n} --arg i32:{k}

#include "gpu.h"

KERNEL fill(float *a, float *b, int m, int n, int k) {
  for (int i = globalThread(); i < m * k; i += globalThreads())
    a[i] = sample(i, 6);
  for (int i = globalThread(); i < k * n; i += globalThreads())
    b[i] = sample(i, 7);
}

KERNEL product(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float left[16][16], right[16][17];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int base = 0; base < k; base += 16) {
    left[y][x] = row < m && base + x < k ? a[row * k + base + x] : 0.0f;
    right[y][x] = base + y < k && column < n ? b[(base + y) * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += left[y][i] * right[i][x];
    __syncthreads();
  }
  if (row < m && column < n)
    c[row * n + column] = sum;
}

KERNEL check(const float *c, int m, int n, int k) {
  for (int i = threadIdx.x; i < m * n; i += blockDim.x) {
    int sum = 0;
    for (int l = 0; l < k; ++l)
      sum += sample(i / n * k + l, 6) * sample(l * n + i % n, 7);
    expect(c[i] == sum);
  }
}
