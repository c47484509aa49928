// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A shuffle in a branch names the lanes that take it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int lane = threadIdx.x;
  if (lane < 16) {
    int other = __nvvm_shfl_sync_bfly_i32(fault ? 0xffffffff : 0xffff, lane, 1, 0x1f);
    expect(other == (lane ^ 1));
  }
  __syncwarp();
}
