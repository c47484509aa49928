// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A barrier of the grid waits for as many blocks as there are.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 gfx942 gfx1100
// LAUNCH: --kernel zero --grid 1 --block 32 --arg out:%t.f.npy:i32[4]
// LAUNCH: --kernel k --grid 3 --block 32 --arg inout:%t.f.npy
// EXPECT: clean

#include "gpu.h"

KERNEL zero(int *flags) {
  if (threadIdx.x < 4)
    flags[threadIdx.x] = 0;
}

KERNEL k(int *flags) {
  if (threadIdx.x)
    return;
  __scoped_atomic_fetch_add(flags, 1, ACQ_REL, SCOPE_DEVICE);
  while (loadAcquire(flags) < static_cast<int>(gridDim.x) + (fault ? 1 : 0))
    ;
}
