// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Softmax in one pass over the row: each thread keeps a running maximum and a sum that is scaled when the maximum
// grows, warps join theirs by shuffles and the block through shared memory. Powers of two of small integers, so that
// all sums are exact.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_75 sm_90 gfx942 gfx906 gfx1100
// CASE: rows=3 n=1
// CASE: rows=2 n=128
// CASE: rows=2 n=1031
// LAUNCH: --kernel fill --grid 2 --block 128 --arg out:%t.x.npy:f32[{rows},{n}] --arg i32:{rows} --arg i32:{n}
// LAUNCH: --kernel softmax --grid {rows} --block 128 --arg in:%t.x.npy --arg out:%t.y.npy:f32[{rows},{n}] --arg out:%t.s.npy:f32[{rows},2] --arg i32:{n}
// LAUNCH: --kernel check --grid {rows} --block 64 --arg in:%t.x.npy --arg in:%t.y.npy --arg in:%t.s.npy --arg i32:{n}

#include "gpu.h"

constexpr int blockThreads = 128;
constexpr float lowest = -1e30f;

KERNEL fill(float *x, int rows, int n) {
  for (int i = globalThread(); i < rows * n; i += globalThreads())
    x[i] = sample(i, 121);
}

/// 2^x of a whole number, and 0 far below.
__device__ float powerOf2(float x) {
  int exponent = static_cast<int>(x < -126 ? -127 : x) + 127;
  return __builtin_bit_cast(float, exponent << 23);
}

struct Running {
  float most = lowest, sum = 0;
};

__device__ Running join(Running a, Running b) {
  float most = a.most > b.most ? a.most : b.most;
  return {most, a.sum * powerOf2(a.most - most) + b.sum * powerOf2(b.most - most)};
}

__device__ Running joinWarp(Running mine) {
  for (unsigned by = warpWidth / 2; by; by /= 2) {
    Running other{shuffleXor(mine.most, by), shuffleXor(mine.sum, by)};
    mine = join(mine, other);
  }
  return mine;
}

KERNEL softmax(const float *x, float *y, float *totals, int n) {
  constexpr int warps = blockThreads / warpWidth;
  __shared__ float most[warps], sum[warps];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  Running mine;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    mine = join(mine, {x[i], 1});
  mine = joinWarp(mine);
  int lane = threadIdx.x % warpWidth, warp = threadIdx.x / warpWidth;
  if (lane == 0) {
    most[warp] = mine.most;
    sum[warp] = mine.sum;
  }
  __syncthreads();
  if (warp == 0) {
    Running all;
    if (lane < warps)
      all = {most[lane], sum[lane]};
    all = joinWarp(all);
    if (lane == 0) {
      most[0] = all.most;
      sum[0] = all.sum;
      totals[2 * blockIdx.x] = all.most;
      totals[2 * blockIdx.x + 1] = all.sum;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = powerOf2(x[i] - most[0]) / sum[0];
}

KERNEL check(const float *x, const float *y, const float *totals, int n) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float most = lowest, sum = 0;
  for (int i = 0; i < n; ++i)
    most = x[i] > most ? x[i] : most;
  for (int i = 0; i < n; ++i)
    sum += powerOf2(x[i] - most);
  expect(totals[2 * blockIdx.x] == most && totals[2 * blockIdx.x + 1] == sum);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float error = y[i] * sum - powerOf2(x[i] - most);
    expect((error < 0 ? -error : error) <= 1e-6f);
  }
}
