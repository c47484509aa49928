// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Blocks count in global memory by atomics.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel zero --grid 1 --block 32 --arg out:%t.f.npy:i32[4]
// LAUNCH: --kernel k --grid 4 --block 64 --arg inout:%t.f.npy
// EXPECT: clean

#include "gpu.h"

KERNEL zero(int *flags) {
  if (threadIdx.x < 4)
    flags[threadIdx.x] = 0;
}

KERNEL k(int *flags) {
  if (threadIdx.x)
    return;
  if (fault)
    ++flags[0];
  else
    atomicAdd(&flags[0], 1);
}
