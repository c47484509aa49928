// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A buffer that is used again in the next turn of a loop, with barriers on both sides of the reads.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 128
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[128];
  int i = threadIdx.x, sum = 0;
  for (int turn = 0; turn < 4; ++turn) {
    slot[i] = i + turn;
    __syncthreads();
    sum += slot[(i + 32) % 128];
    if (!fault)
      __syncthreads();
  }
  check(sum == (i + 32) % 128 * 4 + 6);
}
