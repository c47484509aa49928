// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Two warps meet at a named barrier of 64 threads.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 64
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[64];
  int i = threadIdx.x;
  slot[i] = i;
  namedBarrier(1, fault ? 96 : 64);
  expect(slot[i ^ 32] == (i ^ 32));
}
