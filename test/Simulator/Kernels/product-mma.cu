// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Product of f16 matrices, b given transposed, by mma.sync m16n8k16: 32x32 tiles of four warps, k-tiles of 32 that
// cp.async brings into two buffers, rows of 64 bytes swizzled for ldmatrix. k is a multiple of 8; edges of m, n and k
// are zero-filled by the copies.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_86 sm_89 sm_90 sm_90a
// CASE: m=32 n=32 k=32 gx=1 gy=1
// CASE: m=33 n=70 k=104 gx=3 gy=2
// CASE: m=5 n=3 k=8 gx=1 gy=1
// LAUNCH: --kernel fill --grid 4 --block 128 --arg out:%t.a.npy:f16[{m},{k}] --arg out:%t.b.npy:f16[{n},{k}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel product --grid {gx},{gy} --block 128 --arg in:%t.a.npy --arg in:%t.b.npy --arg out:%t.c.npy:f32[{m},{n}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.c.npy --arg i32:{m} --arg i32:{n} --arg i32:{k}

#include "gpu.h"

KERNEL fill(half *a, half *b, int m, int n, int k) {
  for (int i = globalThread(); i < m * k; i += globalThreads())
    a[i] = sample(i, 20);
  for (int i = globalThread(); i < k * n; i += globalThreads())
    b[i] = sample(i, 21);
}

/// Where 16-byte chunk `chunk` of row `row` lies: eight rows of a matrix touch all banks once.
__device__ int place(int row, int chunk) { return row * 32 + (chunk ^ (row >> 1 & 3)) * 8; }

/// One row of 64 bytes has four chunks; 128 threads bring 32 rows.
__device__ void stage(half *tile, const half *from, int row0, int rows, int column0, int columns) {
  int row = threadIdx.x / 4, chunk = threadIdx.x % 4;
  int left = (columns - column0 - chunk * 8) * 2;
  int bytes = row0 + row < rows && left > 0 ? (left < 16 ? left : 16) : 0;
  const half *source = bytes ? from + (row0 + row) * columns + column0 + chunk * 8 : from;
  copyAsync16(tile + place(row, chunk), source, bytes);
}

KERNEL product(const half *a, const half *b, float *c, int m, int n, int k) {
  __shared__ __attribute__((aligned(16))) half left[2][32 * 32], right[2][32 * 32];
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
  int rowOfWarp = warp / 2 * 16, columnOfWarp = warp % 2 * 16;
  float4 sum[2] = {};
  stage(left[0], a, row0, m, 0, k);
  stage(right[0], b, column0, n, 0, k);
  copyCommit();
  for (int base = 0, turn = 0; base < k; base += 32, turn ^= 1) {
    if (base + 32 < k) {
      stage(left[turn ^ 1], a, row0, m, base + 32, k);
      stage(right[turn ^ 1], b, column0, n, base + 32, k);
    }
    copyCommit();
    copyWait<1>();
    __syncthreads();
    for (int step = 0; step < 2; ++step) {
      uint4 fragmentA = loadMatrix4(left[turn] + place(rowOfWarp + lane % 16, step * 2 + lane / 16));
      uint4 fragmentB =
          loadMatrix4(right[turn] + place(columnOfWarp + lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2));
      sum[0] = mmaF16(fragmentA, uint2{fragmentB[0], fragmentB[1]}, sum[0]);
      sum[1] = mmaF16(fragmentA, uint2{fragmentB[2], fragmentB[3]}, sum[1]);
    }
    __syncthreads();
  }
  for (int tile = 0; tile < 2; ++tile)
    for (int i = 0; i < 4; ++i) {
      int row = row0 + rowOfWarp + lane / 4 + i / 2 * 8;
      int column = column0 + columnOfWarp + tile * 8 + lane % 4 * 2 + i % 2;
      if (row < m && column < n)
        c[row * n + column] = sum[tile][i];
    }
}

KERNEL check(const float *c, int m, int n, int k) {
  for (int i = threadIdx.x; i < m * n; i += blockDim.x) {
    int sum = 0;
    for (int l = 0; l < k; ++l)
      sum += sample(i / n * k + l, 20) * sample(i % n * k + l, 21);
    expect(c[i] == sum);
  }
}
