// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// mbarriers that order the lanes of one warp, and lanes of two warps of which one arrives for all.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90 sm_90a
// LAUNCH: --kernel k --grid 2 --block 32
// LAUNCH: --kernel k2 --grid 1 --block 64

#include "gpu.h"

KERNEL k() {
  __shared__ uint64_t bar;
  __shared__ int slot[32];
  if (threadIdx.x == 0)
    mbarrierInit(&bar, 32);
  __syncthreads();
  for (int r = 0; r < 4; ++r) {
    slot[threadIdx.x] = threadIdx.x * 3 + r;
    mbarrierArrive(&bar);
    mbarrierWait(&bar, (2 * r) & 1);
    int got = slot[threadIdx.x ^ 5];
    expect(got == (int)(threadIdx.x ^ 5) * 3 + r);
    mbarrierArrive(&bar);
    mbarrierWait(&bar, (2 * r + 1) & 1);
  }
}

KERNEL k2() {
  __shared__ uint64_t bar;
  __shared__ int slot[64];
  if (threadIdx.x == 0)
    mbarrierInit(&bar, 2);
  __syncthreads();
  slot[threadIdx.x] = threadIdx.x;
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    mbarrierArrive(&bar);
  mbarrierWait(&bar, 0);
  expect(slot[63 - threadIdx.x] == 63 - (int)threadIdx.x);
}
