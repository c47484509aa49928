// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One block hands data to another through a flag, which the first thread there acquires for all of its block: they come
// after it by a barrier.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel zero --grid 1 --block 32 --arg out:%t.f.npy:i32[4]
// LAUNCH: --kernel k --grid 2 --block 128 --arg inout:%t.f.npy --arg out:%t.a.npy:i32[128]
// EXPECT: clean

#include "gpu.h"

KERNEL zero(int *flags) {
  if (threadIdx.x < 4)
    flags[threadIdx.x] = 0;
}

KERNEL k(int *flags, int *data) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x * 3;
    __syncthreads();
    if (threadIdx.x == 0)
      storeRelease(flags, 1);
  } else {
    if (threadIdx.x == 0)
      while (!loadAcquire(flags))
        ;
    if (!fault)
      __syncthreads();
    else if (threadIdx.x)
      while (!loadRelaxed(flags))
        ;
    check(data[127 - threadIdx.x] == (127 - threadIdx.x) * 3);
  }
}
