// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sums over clusters of four blocks: each block sums its part, then the first one reads the sums of the others from
// their shared memory.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90
// CASE: n=1000 grid=4
// CASE: n=4096 grid=12
// LAUNCH: --kernel fill --grid 4 --block 64 --arg out:%t.a.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel sum --grid {grid} --cluster 4 --block 128 --arg in:%t.a.npy --arg out:%t.s:i32[3] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 1 --arg in:%t.s --arg i32:{n} --arg i32:{grid}

#include "gpu.h"

KERNEL fill(int *a, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    a[i] = sample(i, 61);
}

KERNEL sum(const int *a, int *sums, int n) {
  __shared__ int parts[4], whole;
  int own = 0;
  for (int i = globalThread(); i < n; i += globalThreads())
    own += a[i];
  for (int step = 16; step; step /= 2)
    own += shuffleDown(own, step);
  if (laneIndex() == 0)
    parts[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0)
    whole = parts[0] + parts[1] + parts[2] + parts[3];
  clusterSync();
  if (clusterRank() == 0 && threadIdx.x == 0) {
    int total = 0;
    for (unsigned rank = 0; rank < clusterSize(); ++rank)
      total += *inBlock(&whole, rank);
    sums[blockIdx.x / clusterSize()] = total;
  }
  clusterSync();
}

KERNEL check(const int *sums, int n, int blocks) {
  int expected = 0, found = 0;
  for (int i = 0; i < n; ++i)
    expected += sample(i, 61);
  for (int cluster = 0; cluster < blocks / 4; ++cluster)
    found += sums[cluster];
  expect(found == expected);
}
