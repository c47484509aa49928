// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// All threads of a block are at the barrier, whatever branch they took before.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 128
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[128];
  int i = threadIdx.x;
  slot[i] = i;
  if (!fault)
    __syncthreads();
  if (i < 40) {
    if (fault)
      __syncthreads();
    expect(slot[i] == i);
  }
  __syncthreads();
}
