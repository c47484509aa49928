// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a branch writes after a warp barrier is read by the other one after the next.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[32];
  int lane = laneIndex(), got = lane;
  if (lane < 16) {
    __syncwarp();
    slot[lane] = lane;
    if (!fault)
      __syncwarp();
  } else {
    __syncwarp();
    if (!fault)
      __syncwarp();
    got = slot[lane - 16] + 16;
  }
  check(got == lane);
}
