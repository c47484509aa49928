// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A prefix sum takes the values of lanes below.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int lane = threadIdx.x % warpWidth, sum = 1;
  for (int by = 1; by < static_cast<int>(warpWidth); by *= 2) {
    int other = fault ? shuffleDown(sum, by) : shuffleUp(sum, by);
    if (lane >= by)
      sum += other;
  }
  expect(sum == lane + 1);
}
