// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bins of a histogram are cleared before they are counted in.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 128
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int bins[8];
  int i = threadIdx.x;
  if (!fault && i < 8)
    bins[i] = 0;
  __syncthreads();
  atomicAdd(&bins[i % 8], 1);
  __syncthreads();
  if (i < 8)
    expect(bins[i] == 16);
}
