// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A hash table with open addressing: keys are claimed by compare and swap, values counted by atomics without a result.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_75 sm_90 gfx942 gfx1100 gfx906
// CASE: n=1 slots=8 grid=1
// CASE: n=900 slots=64 grid=6
// LAUNCH: --kernel clear --grid 1 --block 128 --arg out:%t.k.npy:i32[{slots}] --arg out:%t.v.npy:i32[{slots}] --arg i32:{slots}
// LAUNCH: --kernel insert --grid {grid} --block 96 --arg inout:%t.k.npy --arg inout:%t.v.npy --arg i32:{slots} --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 1 --arg in:%t.k.npy --arg in:%t.v.npy --arg i32:{slots} --arg i32:{n}

#include "gpu.h"

KERNEL clear(int *k, int *v, int slots) {
  for (int i = threadIdx.x; i < slots; i += blockDim.x) {
    k[i] = -1;
    v[i] = 0;
  }
}

KERNEL insert(int *k, int *v, int slots, int n) {
  for (int i = globalThread(); i < n; i += globalThreads()) {
    int key = sample(i, 5) + 8, slot = key * 7 % slots;
    for (;;) {
      int old = atomicCas(&k[slot], -1, key);
      if (old == -1 || old == key) {
        atomicAdd(&v[slot], 1);
        break;
      }
      slot = (slot + 1) % slots;
    }
  }
}

KERNEL check(const int *k, const int *v, int slots, int n) {
  int total = 0;
  for (int s = 0; s < slots; ++s)
    if (k[s] >= 0) {
      int c = 0;
      for (int i = 0; i < n; ++i)
        c += sample(i, 5) + 8 == k[s];
      expect(c == v[s]);
      total += c;
    }
  expect(total == n);
}
