// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A warp barrier whose mask holds the lanes that execute it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[32];
  int lane = threadIdx.x;
  slot[lane] = lane;
  __syncwarp(fault ? 0xffff : 0xffffffff);
  check(slot[lane ^ 1] == (lane ^ 1));
}
