// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Softmax of rows, one warp a row: maximum and sum by butterfly shuffles, powers of two so that the numerators are
// exact. The check allows the rounding of one division.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// CASE: m=1 n=1
// CASE: m=5 n=100
// CASE: m=4 n=64
// LAUNCH: --kernel fill --grid 2 --block 128 --arg out:%t.a.npy:f32[{m},{n}] --arg i32:{m} --arg i32:{n}
// LAUNCH: --kernel softmax --grid {m} --block 64 --arg in:%t.a.npy --arg out:%t.b.npy:f32[{m},{n}] --arg i32:{m} --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 64 --arg in:%t.b.npy --arg i32:{m} --arg i32:{n}

#include "gpu.h"

/// 2^x of an integer, by its bits.
__device__ float power(int x) { return __builtin_bit_cast(float, (x + 127) << 23); }

KERNEL fill(float *a, int m, int n) {
  for (int i = globalThread(); i < m * n; i += globalThreads())
    a[i] = sample(i, 9);
}

KERNEL softmax(const float *a, float *b, int m, int n) {
  if (threadIdx.x >= warpWidth)
    return;
  const float *row = a + blockIdx.x * n;
  float top = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < n; i += warpWidth)
    top = row[i] > top ? row[i] : top;
  for (unsigned by = warpWidth / 2; by; by /= 2) {
    float other = shuffleXor(top, by);
    top = other > top ? other : top;
  }
  for (int i = threadIdx.x; i < n; i += warpWidth)
    sum += power(static_cast<int>(row[i] - top));
  for (unsigned by = warpWidth / 2; by; by /= 2)
    sum += shuffleXor(sum, by);
  for (int i = threadIdx.x; i < n; i += warpWidth)
    b[blockIdx.x * n + i] = power(static_cast<int>(row[i] - top)) / sum;
}

KERNEL check(const float *b, int m, int n) {
  for (int row = threadIdx.x; row < m; row += blockDim.x) {
    int top = -100;
    for (int i = 0; i < n; ++i)
      top = sample(row * n + i, 9) > top ? sample(row * n + i, 9) : top;
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += power(sample(row * n + i, 9) - top);
    for (int i = 0; i < n; ++i) {
      float back = b[row * n + i] * sum, right = power(sample(row * n + i, 9) - top);
      expect(back >= right * (1 - 0x1p-21f) && back <= right * (1 + 0x1p-21f));
    }
  }
}
