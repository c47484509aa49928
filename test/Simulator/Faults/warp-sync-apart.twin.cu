// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Both branches of a warp wait at a warp barrier of their own, with one mask: they meet.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 64
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[64];
  int lane = laneIndex(), got;
  slot[threadIdx.x] = lane;
  if (lane < 16) {
    __syncwarp();
    got = slot[threadIdx.x + 16];
  } else {
    __syncwarp(fault ? 0xffff0000 : allLanes);
    got = slot[threadIdx.x - 16];
  }
  check(got == (lane ^ 16));
}
