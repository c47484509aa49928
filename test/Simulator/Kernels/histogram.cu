// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Histogram of 16 bins: counts in shared memory by atomics, then added to global memory by atomics.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// CASE: n=3 grid=1
// CASE: n=3001 grid=4
// LAUNCH: --kernel fill --grid {grid} --block 128 --arg out:%t.a.npy:i32[{n}] --arg out:%t.h.npy:i32[16] --arg i32:{n}
// LAUNCH: --kernel histogram --grid {grid} --block 128 --arg in:%t.a.npy --arg inout:%t.h.npy --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 16 --arg in:%t.h.npy --arg i32:{n}

#include "gpu.h"

KERNEL fill(int *a, int *bins, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    a[i] = sample(i, 8);
  if (globalThread() < 16)
    bins[globalThread()] = 0;
}

KERNEL histogram(const int *a, int *bins, int n) {
  __shared__ int mine[16];
  if (threadIdx.x < 16)
    mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = globalThread(); i < n; i += globalThreads())
    atomicAdd(&mine[a[i] + 8], 1);
  __syncthreads();
  if (threadIdx.x < 16)
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

KERNEL check(const int *bins, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i)
    count += sample(i, 8) + 8 == static_cast<int>(threadIdx.x);
  expect(bins[threadIdx.x] == count);
}
