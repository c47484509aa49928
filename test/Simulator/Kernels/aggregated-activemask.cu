// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Counters that the lanes in one branch advance together, as they happen to be there: the active mask, one atomic of
// its first lane, a shuffle among them.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90
// CASE: n=1 grid=1
// CASE: n=700 grid=4
// LAUNCH: --kernel clear --grid 1 --block 32 --arg out:%t.c.npy:i32[16]
// LAUNCH: --kernel count --grid {grid} --block 96 --arg inout:%t.c.npy --arg out:%t.r.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 1 --arg in:%t.c.npy --arg in:%t.r.npy --arg i32:{n}

#include "gpu.h"

KERNEL clear(int *c) {
  if (threadIdx.x < 16)
    c[threadIdx.x] = 0;
}

__device__ __noinline int next(int *counter) {
  unsigned active = __nvvm_activemask();
  int leader = __builtin_ctz(active), lane = laneIndex(), base = 0;
  if (lane == leader)
    base = atomicAdd(counter, __builtin_popcount(active));
  base = __nvvm_shfl_sync_idx_i32(active, base, leader, 0x1f);
  return base + __builtin_popcount(active & ((1u << lane) - 1));
}

KERNEL count(int *c, int *rank, int n) {
  for (int i = globalThread(); i < n; i += globalThreads()) {
    int bin = sample(i, 3) & 3;
    if (bin == 0)
      rank[i] = next(&c[0]);
    else if (bin == 1)
      rank[i] = next(&c[1]);
    else if (bin == 2 && i % 3)
      rank[i] = next(&c[2]);
    else if (bin == 2)
      rank[i] = next(&c[4]);
    else
      rank[i] = next(&c[3]);
  }
}

KERNEL check(const int *c, const int *rank, int n) {
  int k[5] = {};
  int64_t s[5] = {};
  for (int i = 0; i < n; ++i) {
    int bin = sample(i, 3) & 3;
    int w = bin == 0 ? 0 : bin == 1 ? 1 : bin == 2 && i % 3 ? 2 : 3 + (bin == 2);
    k[w]++;
    s[w] += rank[i];
  }
  for (int w = 0; w < 5; ++w) {
    expect(c[w] == k[w]);
    expect(s[w] == int64_t(k[w]) * (k[w] - 1) / 2);
  }
}
