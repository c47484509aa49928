// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Parts, a fence, a ticket; the last block fences again and adds up the parts.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel zero --grid 1 --block 32 --arg out:%t.f.npy:i32[4]
// LAUNCH: --kernel k --grid 4 --block 32 --arg inout:%t.f.npy --arg out:%t.a.npy:i32[4] --arg out:%t.b.npy:i32[1]
// EXPECT: clean

#include "gpu.h"

KERNEL zero(int *flags) {
  if (threadIdx.x < 4)
    flags[threadIdx.x] = 0;
}

KERNEL k(int *flags, int *parts, int *total) {
  if (threadIdx.x)
    return;
  parts[blockIdx.x] = blockIdx.x + 1;
  __threadfence();
  bool last = atomicAdd(&flags[0], 1) == 3;
  if (!fault)
    __threadfence();
  if (!last)
    return;
  int sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += parts[i];
  total[0] = sum;
  check(sum == 10);
}
