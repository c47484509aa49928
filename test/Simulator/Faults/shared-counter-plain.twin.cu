// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Threads count in shared memory by atomics.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 128
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int count;
  if (threadIdx.x == 0)
    count = 0;
  __syncthreads();
  if (fault)
    ++count;
  else
    atomicAdd(&count, 1);
  __syncthreads();
  check(count == 128);
}
