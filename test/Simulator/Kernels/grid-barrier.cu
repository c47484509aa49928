// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Two phases in one launch with a barrier of the whole grid between them: an arrival counter that is added to with
// release and polled with acquire. Each block reads in the second phase what its neighbour wrote in the first.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// CASE: grid=1
// CASE: grid=6
// LAUNCH: --kernel fill --grid 1 --block 32 --arg out:%t.c.npy:i32[1]
// LAUNCH: --kernel phases --grid {grid} --block 64 --arg out:%t.a.npy:i32[{grid},64] --arg out:%t.b.npy:i32[{grid},64] --arg inout:%t.c.npy
// LAUNCH: --kernel check --grid {grid} --block 64 --arg in:%t.b.npy

#include "gpu.h"

KERNEL fill(int *count) {
  if (threadIdx.x == 0)
    *count = 0;
}

__device__ void gridBarrier(int *count) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __scoped_atomic_fetch_add(count, 1, ACQ_REL, SCOPE_DEVICE);
    while (loadAcquire(count) < static_cast<int>(gridDim.x))
      ;
  }
  __syncthreads();
}

KERNEL phases(int *a, int *b, int *count) {
  unsigned next = (blockIdx.x + 1) % gridDim.x;
  a[globalThread()] = sample(globalThread(), 11);
  gridBarrier(count);
  b[globalThread()] = a[next * 64 + threadIdx.x];
}

KERNEL check(const int *b) {
  unsigned next = (blockIdx.x + 1) % gridDim.x;
  expect(b[globalThread()] == sample(next * 64 + threadIdx.x, 11));
}
