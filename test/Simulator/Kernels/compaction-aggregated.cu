// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Compaction with atomics that a warp does once: those lanes that keep a value are counted by a ballot, the first one
// draws places for all of them, and each takes its own by its rank. The order of the results is free.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_75 sm_90 gfx942 gfx906 gfx1100 gfx1201
// CASE: n=7 grid=1
// CASE: n=1777 grid=5
// LAUNCH: --kernel fill --grid 2 --block 128 --arg out:%t.x.npy:i32[{n}] --arg out:%t.c.npy:i32[1] --arg i32:{n}
// LAUNCH: --kernel compact --grid {grid} --block 160 --arg in:%t.x.npy --arg out:%t.y.npy:i32[{n}] --arg inout:%t.c.npy --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 1 --arg in:%t.x.npy --arg in:%t.y.npy --arg in:%t.c.npy --arg i32:{n}

#include "gpu.h"

KERNEL fill(int *x, int *count, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    x[i] = sample(i, 95) + 16 * i;
  if (globalThread() == 0)
    *count = 0;
}

__device__ bool isKept(int value) { return (value & 15) >= 5; }

KERNEL compact(const int *x, int *y, int *count, int n) {
  unsigned lane = laneIndex();
  // All lanes of a warp come as often as the first one, so that the ballots have all of them.
  for (int base = globalThread() - lane; base < n; base += globalThreads()) {
    int i = base + lane;
    bool kept = i < n && isKept(x[i]);
    uint64_t keepers = ballot(kept);
    if (!keepers)
      continue;
    unsigned leader = __builtin_ctzl(keepers);
    int first = 0;
    if (lane == leader)
      first = atomicAdd(count, static_cast<int>(__builtin_popcountl(keepers)));
    first = shuffleIndex(first, leader);
    if (kept)
      y[first + __builtin_popcountl(keepers & ((uint64_t(1) << lane) - 1))] = x[i];
  }
}

KERNEL check(const int *x, const int *y, const int *count, int n) {
  int kept = 0;
  int64_t sum = 0;
  for (int i = 0; i < n; ++i)
    if (isKept(x[i])) {
      ++kept;
      sum += x[i];
    }
  expect(*count == kept);
  for (int i = 0; i < kept; ++i) {
    expect(isKept(y[i]));
    sum -= y[i];
  }
  expect(sum == 0);
}
