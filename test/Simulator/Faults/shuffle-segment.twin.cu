// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Shuffles within segments of eight lanes.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int lane = threadIdx.x, sum = lane / 8;
  for (int by = 4; by; by /= 2)
    sum += __nvvm_shfl_sync_down_i32(allLanes, sum, by, fault ? 0x1f : 0x181f);
  if (lane % 8 == 4)
    expect(sum == lane / 8 * 8);
}
