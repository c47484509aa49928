// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sum by a tree in shared memory, one barrier a level.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 256
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int part[256];
  int i = threadIdx.x;
  part[i] = i;
  __syncthreads();
  for (int half = 128; half; half /= 2) {
    if (i < half)
      part[i] += part[i + half];
    if (!fault)
      __syncthreads();
  }
  if (i == 0)
    check(part[0] == 255 * 128);
}
