// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Two blocks of a cluster load half of each tile for both. A place in the ring is empty when both have read it, so each
// block tells both.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90 sm_90a
// CASE: n=7 grid=4
// LAUNCH: --kernel fill --grid 2 --block 64 --arg out:%t.a.npy:i32[896] --arg i32:896
// LAUNCH: --kernel sums --grid {grid} --cluster 2 --block 128 --arg in:%t.a.npy --arg out:%t.o:i32[512] --arg i32:{n}
// LAUNCH: --kernel check --grid {grid} --block 128 --arg in:%t.o --arg i32:{n}
// EXPECT: clean

#include "gpu.h"

constexpr int tileWidth = 128, stages = 2;

KERNEL sums(const int *a, int *out, int tiles) {
  alignas(16) __shared__ int tile[stages][tileWidth];
  __shared__ uint64_t full[stages], empty[stages];
  unsigned rank = clusterRank();
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      mbarrierInit(&full[s], 1);
      mbarrierInit(&empty[s], 2);
    }
    mbarrierInitFence();
  }
  clusterSync();
  int sum = 0;
  for (int t = 0; t < tiles; ++t) {
    int s = t % stages, round = t / stages;
    if (threadIdx.x == 0) {
      if (round)
        mbarrierWait(&empty[s], round - 1 & 1);
      mbarrierExpect(&full[s], tileWidth * 4);
      unsigned half = rank * tileWidth / 2;
      bulkLoadMulticast(&tile[s][half], a + t * tileWidth + half, tileWidth / 2 * 4, &full[s], 3);
    }
    mbarrierWait(&full[s], round & 1);
    sum += tile[s][threadIdx.x] * (rank + 1);
    __syncthreads();
    if (threadIdx.x == 0) {
      mbarrierArriveIn(&empty[s], fault ? rank : 0);
      mbarrierArriveIn(&empty[s], fault ? rank : 1);
    }
  }
  out[blockIdx.x * tileWidth + threadIdx.x] = sum;
  clusterSync();
}

KERNEL fill(int *a, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    a[i] = sample(i, 62);
}

KERNEL check(const int *out, int tiles) {
  int sum = 0;
  for (int t = 0; t < tiles; ++t)
    sum += sample(t * tileWidth + threadIdx.x, 62);
  expect(out[blockIdx.x * tileWidth + threadIdx.x] == sum * (int)(blockIdx.x % 2 + 1));
}
