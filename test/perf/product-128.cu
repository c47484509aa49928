// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the simulator's speed is measured with: a product of f16 matrices (b transposed) in tiles of 128x128x64, 256
// threads, two stages of cp.async, rows of 128 bytes swizzled for ldmatrix, 512 mma.sync m16n8k16 a tile step. Sizes
// are multiples of the tile.

#include "gpu.h"

constexpr int tile = 128, depth = 64;

/// Where 16-byte chunk `chunk` (of eight) of a row lies.
__device__ int place(int row, int chunk) { return row * depth + (chunk ^ (row & 7)) * 8; }

__device__ void stage(half *to, const half *from, int columns) {
  for (int i = 0; i < 4; ++i) {
    int row = threadIdx.x / 8 + i * 32, chunk = threadIdx.x % 8;
    copyAsync16(to + place(row, chunk), from + row * columns + chunk * 8);
  }
}

KERNEL product(const half *a, const half *b, float *c, int n, int k) {
  __shared__ __attribute__((aligned(128))) half left[2][tile * depth], right[2][tile * depth];
  const half *rows = a + blockIdx.y * tile * k, *columns = b + blockIdx.x * tile * k;
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row0 = warp / 4 * 64, column0 = warp % 4 * 32;
  float4 sum[4][4] = {};
  stage(left[0], rows, k);
  stage(right[0], columns, k);
  copyCommit();
  for (int base = 0, turn = 0; base < k; base += depth, turn ^= 1) {
    if (base + depth < k) {
      stage(left[turn ^ 1], rows + base + depth, k);
      stage(right[turn ^ 1], columns + base + depth, k);
    }
    copyCommit();
    copyWait<1>();
    __syncthreads();
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      uint4 fragmentA[4], fragmentB[2];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        fragmentA[i] = loadMatrix4(left[turn] + place(row0 + i * 16 + lane % 16, step * 2 + lane / 16));
#pragma unroll
      for (int j = 0; j < 2; ++j)
        fragmentB[j] =
            loadMatrix4(right[turn] + place(column0 + j * 16 + lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2));
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          sum[i][j] =
              mmaF16(fragmentA[i], uint2{fragmentB[j / 2][j % 2 * 2], fragmentB[j / 2][j % 2 * 2 + 1]}, sum[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        c[(blockIdx.y * tile + row0 + i * 16 + lane / 4 + e / 2 * 8) * n + blockIdx.x * tile + column0 + j * 8 +
          lane % 4 * 2 + e % 2] = sum[i][j][e];
}
