// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// All lanes of a warp execute a matrix product.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  float4 d = {0, 0, 0, 0};
  if (!fault || threadIdx.x < 16)
    d = mmaF16(uint4{0, 0, 0, 0}, uint2{0, 0}, d);
  __syncwarp();
  expect(d[0] == 0);
}
