// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One warp arrives at a named barrier, the other waits there.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 64
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    slot[lane] = lane;
    namedArrive(1, 64);
  } else {
    namedBarrier(fault ? 2 : 1, 64);
    expect(slot[31 - lane] == 31 - lane);
  }
}
