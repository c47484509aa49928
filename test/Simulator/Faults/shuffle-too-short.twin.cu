// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sum of a warp by shuffles over all powers of two.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int lane = threadIdx.x % warpWidth, sum = lane;
  for (unsigned by = warpWidth / 2; by > (fault ? 1 : 0); by /= 2)
    sum += shuffleXor(sum, by);
  expect(sum == static_cast<int>(warpWidth * (warpWidth - 1) / 2));
}
