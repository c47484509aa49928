// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Transposition of a matrix in 32x32 tiles through shared memory with one padding column: rows are read and written
// whole, and columns of the tile lie in different banks.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// CASE: m=32 n=32 gx=1 gy=1
// CASE: m=33 n=70 gx=3 gy=2
// CASE: m=1 n=5 gx=1 gy=1
// LAUNCH: --kernel fill --grid 4 --block 128 --arg out:%t.a.npy:f32[{m},{n}] --arg i32:{m} --arg i32:{n}
// LAUNCH: --kernel transpose --grid {gx},{gy} --block 32,8 --arg in:%t.a.npy --arg out:%t.b.npy:f32[{n},{m}] --arg i32:{m} --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 64 --arg in:%t.b.npy --arg i32:{m} --arg i32:{n}

#include "gpu.h"

KERNEL fill(float *a, int m, int n) {
  for (int i = globalThread(); i < m * n; i += globalThreads())
    a[i] = sample(i, 5);
}

KERNEL transpose(const float *a, float *b, int m, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += blockDim.y)
    if (x < n && y + r < m)
      tile[r][threadIdx.x] = a[(y + r) * n + x];
  __syncthreads();
  int column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32;
  for (int r = threadIdx.y; r < 32; r += blockDim.y)
    if (column < m && row + r < n)
      b[(row + r) * m + column] = tile[threadIdx.x][r];
}

KERNEL check(const float *b, int m, int n) {
  for (int i = threadIdx.x; i < m * n; i += blockDim.x)
    expect(b[i] == sample(i % m * n + i / m, 5));
}
