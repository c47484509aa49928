// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sum over the whole grid in one launch: each block stores its part, fences, draws a ticket by an atomic, and the block
// that draws the last one adds up the parts.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// CASE: n=10 grid=1
// CASE: n=3000 grid=7
// LAUNCH: --kernel fill --grid {grid} --block 128 --arg out:%t.a.npy:i32[{n}] --arg out:%t.t.npy:i32[1] --arg i32:{n}
// LAUNCH: --kernel sum --grid {grid} --block 128 --arg in:%t.a.npy --arg out:%t.p.npy:i32[{grid}] --arg inout:%t.t.npy --arg out:%t.s.npy:i32[1] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 1 --arg in:%t.s.npy --arg i32:{n}

#include "gpu.h"

KERNEL fill(int *a, int *ticket, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    a[i] = sample(i, 10);
  if (globalThread() == 0)
    *ticket = 0;
}

KERNEL sum(const int *a, int *parts, int *ticket, int *total, int n) {
  __shared__ int part, last;
  if (threadIdx.x == 0)
    part = 0;
  __syncthreads();
  int mine = 0;
  for (int i = globalThread(); i < n; i += globalThreads())
    mine += a[i];
  atomicAdd(&part, mine);
  __syncthreads();
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = part;
    __threadfence();
    last = atomicAdd(ticket, 1) == static_cast<int>(gridDim.x) - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int all = 0;
    for (unsigned i = 0; i < gridDim.x; ++i)
      all += parts[i];
    *total = all;
  }
}

KERNEL check(const int *total, int n) {
  int right = 0;
  for (int i = 0; i < n; ++i)
    right += sample(i, 10);
  expect(*total == right);
}
