// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Product of f32 matrices with two buffers in shared memory: while a block multiplies one k-tile, 4x4 results a thread,
// the next one is on its way from global memory through registers. One barrier a step; all edges are ragged.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_75 sm_90 gfx942 gfx906 gfx1100
// CASE: m=1 n=1 k=1 gx=1 gy=1
// CASE: m=32 n=64 k=16 gx=1 gy=1
// CASE: m=45 n=70 k=37 gx=2 gy=2
// LAUNCH: --kernel fill --grid 4 --block 128 --arg out:%t.a.npy:f32[{m},{k}] --arg out:%t.b.npy:f32[{k},{n}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel product --grid {gx},{gy} --block 16,8 --arg in:%t.a.npy --arg in:%t.b.npy --arg out:%t.c.npy:f32[{m},{n}] --arg i32:{m} --arg i32:{n} --arg i32:{k}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.c.npy --arg i32:{m} --arg i32:{n} --arg i32:{k}

#include "gpu.h"

constexpr int tileM = 32, tileN = 64, tileK = 8, blockThreads = 128;
constexpr int loadsA = tileM * tileK / blockThreads, loadsB = tileK * tileN / blockThreads;

KERNEL fill(float *a, float *b, int m, int n, int k) {
  for (int i = globalThread(); i < m * k; i += globalThreads())
    a[i] = sample(i, 90);
  for (int i = globalThread(); i < k * n; i += globalThreads())
    b[i] = sample(i, 91);
}

KERNEL product(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float left[2][tileK][tileM + 4], right[2][tileK][tileN];
  int thread = threadIdx.y * 16 + threadIdx.x, row0 = blockIdx.y * tileM, column0 = blockIdx.x * tileN;
  float nextA[loadsA], nextB[loadsB], sum[4][4] = {};
  auto load = [&](int base) {
    for (int i = 0; i < loadsA; ++i) {
      int at = thread + i * blockThreads, row = row0 + at / tileK, column = base + at % tileK;
      nextA[i] = row < m && column < k ? a[row * k + column] : 0;
    }
    for (int i = 0; i < loadsB; ++i) {
      int at = thread + i * blockThreads, row = base + at / tileN, column = column0 + at % tileN;
      nextB[i] = row < k && column < n ? b[row * n + column] : 0;
    }
  };
  auto store = [&](int buffer) {
    for (int i = 0; i < loadsA; ++i) {
      int at = thread + i * blockThreads;
      left[buffer][at % tileK][at / tileK] = nextA[i];
    }
    for (int i = 0; i < loadsB; ++i) {
      int at = thread + i * blockThreads;
      right[buffer][at / tileN][at % tileN] = nextB[i];
    }
  };
  load(0);
  store(0);
  __syncthreads();
  int steps = (k + tileK - 1) / tileK;
  for (int step = 0; step < steps; ++step) {
    bool more = step + 1 < steps;
    if (more)
      load((step + 1) * tileK);
    for (int l = 0; l < tileK; ++l) {
      float x[4], y[4];
      for (int i = 0; i < 4; ++i) {
        x[i] = left[step % 2][l][threadIdx.y * 4 + i];
        y[i] = right[step % 2][l][threadIdx.x * 4 + i];
      }
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          sum[i][j] += x[i] * y[j];
    }
    if (more) {
      store((step + 1) % 2);
      __syncthreads();
    }
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      int row = row0 + static_cast<int>(threadIdx.y) * 4 + i, column = column0 + static_cast<int>(threadIdx.x) * 4 + j;
      if (row < m && column < n)
        c[row * n + column] = sum[i][j];
    }
}

KERNEL check(const float *c, int m, int n, int k) {
  for (int i = threadIdx.x; i < m * n; i += blockDim.x) {
    int sum = 0;
    for (int l = 0; l < k; ++l)
      sum += sample(i / n * k + l, 90) * sample(l * n + i % n, 91);
    expect(c[i] == sum);
  }
}
