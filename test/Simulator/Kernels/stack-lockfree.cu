// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A stack without a lock: each thread pushes its node by compare and swap.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_75 sm_90 gfx942 gfx1100
// CASE: grid=1 n=64
// CASE: grid=3 n=300
// LAUNCH: --kernel clear --grid 1 --block 1 --arg out:%t.h.npy:i32[1]
// LAUNCH: --kernel push --grid {grid} --block 100 --arg inout:%t.h.npy --arg out:%t.n.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 1 --arg in:%t.h.npy --arg in:%t.n.npy --arg i32:{n}

#include "gpu.h"

KERNEL clear(int *head) { *head = -1; }

KERNEL push(int *head, int *next, int n) {
  int i = globalThread();
  if (i >= n)
    return;
  int old = loadRelaxed(head), seen;
  do {
    seen = old;
    next[i] = seen;
    __threadfence();
    old = atomicCas(head, seen, i);
  } while (old != seen);
}

KERNEL check(const int *head, const int *next, int n) {
  int count = 0;
  int64_t sum = 0;
  for (int i = *head; i >= 0; i = next[i]) {
    ++count;
    sum += i;
  }
  expect(count == n && sum == int64_t(n) * (n - 1) / 2);
}
