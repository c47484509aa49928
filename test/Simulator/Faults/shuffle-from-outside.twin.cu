// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A shuffle among half a warp reads from lanes of that half.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 32 --arg out:%t.a.npy:i32[32]
// EXPECT: clean

#include "gpu.h"

KERNEL k(int *a) {
  int lane = threadIdx.x;
  if (lane < 16)
    a[lane] = __nvvm_shfl_sync_idx_i32(0xffff, lane, fault ? 20 : 4, 0x1f) > 3 ? 1 : 2;
}
