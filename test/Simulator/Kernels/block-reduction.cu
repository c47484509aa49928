// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sum of a vector by blocks: a tree in shared memory down to one warp, then shuffles, then one atomic a block. The sum
// of integers is exact in any order.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// CASE: n=1 grid=1
// CASE: n=255 grid=1
// CASE: n=5000 grid=3
// LAUNCH: --kernel fill --grid {grid} --block 256 --arg out:%t.a.npy:f32[{n}] --arg out:%t.sum.npy:f32[1] --arg i32:{n}
// LAUNCH: --kernel sum --grid {grid} --block 256 --arg in:%t.a.npy --arg inout:%t.sum.npy --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 1 --arg in:%t.sum.npy --arg i32:{n}

#include "gpu.h"

KERNEL fill(float *a, float *sum, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    a[i] = sample(i, 3);
  if (globalThread() == 0)
    *sum = 0;
}

KERNEL sum(const float *a, float *sum, int n) {
  __shared__ float part[256];
  float mine = 0;
  for (int i = globalThread(); i < n; i += globalThreads())
    mine += a[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half >= warpWidth; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x >= warpWidth)
    return;
  mine = part[threadIdx.x];
  for (unsigned by = warpWidth / 2; by; by /= 2)
    mine += shuffleDown(mine, by);
  if (threadIdx.x == 0)
    atomicAdd(sum, mine);
}

KERNEL check(const float *sum, int n) {
  int right = 0;
  for (int i = 0; i < n; ++i)
    right += sample(i, 3);
  expect(*sum == right);
}
