// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lanes of one warp exchange values through shared memory, with a warp barrier.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[32];
  int lane = threadIdx.x;
  slot[lane] = lane * 5;
  if (!fault)
    __syncwarp();
  expect(slot[lane ^ 7] == (lane ^ 7) * 5);
}
