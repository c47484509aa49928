// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Blocks that draw tiles from a queue until it is empty, and share what they found through shared memory.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_90 gfx942 gfx1100 gfx906
// CASE: n=1 grid=3
// CASE: n=2000 grid=5
// LAUNCH: --kernel clear --grid 1 --block 1 --arg out:%t.q.npy:i32[2]
// LAUNCH: --kernel run --grid {grid} --block 128 --arg inout:%t.q.npy --arg out:%t.y.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.y.npy --arg in:%t.q.npy --arg i32:{n}

#include "gpu.h"

KERNEL clear(int *q) { q[0] = q[1] = 0; }

KERNEL run(int *q, int *y, int n) {
  __shared__ int tile, total;
  if (threadIdx.x == 0)
    total = 0;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0)
      tile = atomicAdd(&q[0], 1);
    __syncthreads();
    int i = tile * 128 + threadIdx.x;
    if (tile * 128 >= n)
      break;
    if (i < n) {
      y[i] = sample(i, 2);
      __scoped_atomic_fetch_add(&total, sample(i, 2), RELAXED, SCOPE_BLOCK);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(&q[1], total);
}

KERNEL check(const int *y, const int *q, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) {
    expect(y[i] == sample(i, 2));
    s += y[i];
  }
  expect(q[1] == s);
}
