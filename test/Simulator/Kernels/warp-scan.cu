// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Inclusive prefix sums of up to 1024 integers in one block: shuffles within a warp, the sums of warps through shared
// memory, and a ballot that counts what is positive.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// CASE: n=1
// CASE: n=77
// CASE: n=256
// LAUNCH: --kernel fill --grid 1 --block 256 --arg out:%t.a.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel scan --grid 1 --block 256 --arg in:%t.a.npy --arg out:%t.b.npy:i32[{n}] --arg out:%t.c.npy:i32[1] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 1 --arg in:%t.b.npy --arg in:%t.c.npy --arg i32:{n}

#include "gpu.h"

KERNEL fill(int *a, int n) {
  int i = threadIdx.x;
  if (i < n)
    a[i] = sample(i, 4);
}

KERNEL scan(const int *a, int *b, int *positive, int n) {
  __shared__ int sums[32], counts[32];
  int i = threadIdx.x;
  unsigned lane = i % warpWidth, warp = i / warpWidth;
  int value = i < n ? a[i] : 0;
  uint64_t votes = ballot(value > 0);
  for (unsigned by = 1; by < warpWidth; by *= 2) {
    int other = shuffleUp(value, by);
    if (lane >= by)
      value += other;
  }
  if (lane == warpWidth - 1)
    sums[warp] = value;
  if (lane == 0)
    counts[warp] = __builtin_popcountll(votes);
  __syncthreads();
  for (unsigned w = 0; w < warp; ++w)
    value += sums[w];
  if (i < n)
    b[i] = value;
  if (i == 0) {
    int total = 0;
    for (unsigned w = 0; w < blockDim.x / warpWidth; ++w)
      total += counts[w];
    *positive = total;
  }
}

KERNEL check(const int *b, const int *positive, int n) {
  int sum = 0, count = 0;
  for (int i = 0; i < n; ++i) {
    int value = sample(i, 4);
    sum += value;
    count += value > 0;
    expect(b[i] == sum);
  }
  expect(*positive == count);
}
