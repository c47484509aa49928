// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Two warps that fill buffers and two that empty them, with named barriers that one side waits at and the other only
// arrives at.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90
// CASE: n=1
// CASE: n=1000
// LAUNCH: --kernel fill --grid 1 --block 128 --arg out:%t.x.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel run --grid 1 --block 128 --arg in:%t.x.npy --arg out:%t.y.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.y.npy --arg i32:{n}

#include "gpu.h"

KERNEL fill(int *x, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    x[i] = sample(i, 1);
}

// Barriers 1 and 2: a buffer is full; 3 and 4: it is empty.
KERNEL run(const int *x, int *y, int n) {
  __shared__ int buffer[2][64];
  int steps = (n + 63) / 64, lane = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int s = 0; s < steps; ++s) {
      if (s >= 2)
        namedBarrier(3 + s % 2, 128);
      int i = s * 64 + lane;
      buffer[s % 2][lane] = i < n ? x[i] : 0;
      __threadfence_block();
      namedArrive(1 + s % 2, 128);
    }
  } else {
    for (int s = 0; s < steps; ++s) {
      namedBarrier(1 + s % 2, 128);
      int i = s * 64 + lane, left = buffer[s % 2][lane], right = buffer[s % 2][63 - lane];
      if (s + 2 < steps)
        namedArrive(3 + s % 2, 128);
      if (i < n)
        y[i] = left + right;
    }
  }
}

KERNEL check(const int *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
      int other = i / 64 * 64 + 63 - i % 64;
      expect(y[i] == sample(i, 1) + (other < n ? sample(other, 1) : 0));
    }
}
