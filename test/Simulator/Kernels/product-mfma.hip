// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Product of f16 matrices, b given transposed, by MFMA 32x32x8: 64x64 tiles of four waves, k-tiles of 16 through LDS
// with padded rows; edges of all three sizes are filled with zeros.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx908 gfx90a gfx942 gfx950
// CASE: m=64 n=64 k=16 gx=1 gy=1
// CASE: m=65 n=130 k=43 gx=3 gy=2
// CASE: m=3 n=1 k=1 gx=1 gy=1
// LAUNCH: --kernel fill --grid 4 --block 128 --arg out:%t.a.npy:f16[{m},{k}] --arg out:%t.b.npy:f16[{n},{k}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel product --grid {gx},{gy} --block 256 --arg in:%t.a.npy --arg in:%t.b.npy --arg out:%t.c.npy:f32[{m},{n}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.c.npy --arg i32:{m} --arg i32:{n} --arg i32:{k}

#include "gpu.h"

KERNEL fill(half *a, half *b, int m, int n, int k) {
  for (int i = globalThread(); i < m * k; i += globalThreads())
    a[i] = sample(i, 40);
  for (int i = globalThread(); i < k * n; i += globalThreads())
    b[i] = sample(i, 41);
}

__device__ void stage(half (*tile)[20], const half *from, int row0, int rows, int column0, int columns) {
  for (int i = threadIdx.x; i < 64 * 16; i += blockDim.x) {
    int row = i / 16, column = i % 16;
    bool inside = row0 + row < rows && column0 + column < columns;
    tile[row][column] = inside ? from[(row0 + row) * columns + column0 + column] : half(0);
  }
}

KERNEL product(const half *a, const half *b, float *c, int m, int n, int k) {
  __shared__ __attribute__((aligned(8))) half left[64][20], right[64][20];
  unsigned lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
  int rowOfWave = wave / 2 * 32, columnOfWave = wave % 2 * 32;
  float16 sum = {};
  for (int base = 0; base < k; base += 16) {
    stage(left, a, row0, m, base, k);
    stage(right, b, column0, n, base, k);
    __syncthreads();
    for (int step = 0; step < 16; step += 8) {
      half4 x = *reinterpret_cast<half4 *>(&left[rowOfWave + lane % 32][step + lane / 32 * 4]);
      half4 y = *reinterpret_cast<half4 *>(&right[columnOfWave + lane % 32][step + lane / 32 * 4]);
      sum = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0);
    }
    __syncthreads();
  }
  for (int r = 0; r < 16; ++r) {
    int row = row0 + rowOfWave + r / 4 * 8 + lane / 32 * 4 + r % 4, column = column0 + columnOfWave + lane % 32;
    if (row < m && column < n)
      c[row * n + column] = sum[r];
  }
}

KERNEL check(const float *c, int m, int n, int k) {
  for (int i = threadIdx.x; i < m * n; i += blockDim.x) {
    int sum = 0;
    for (int l = 0; l < k; ++l)
      sum += sample(i / n * k + l, 40) * sample(i % n * k + l, 41);
    expect(c[i] == sum);
  }
}
