// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A tile that the data fill in part is padded with zeros before it is added up.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64 --arg i32:50
// EXPECT: clean

#include "gpu.h"

KERNEL k(int n) {
  __shared__ int tile[64];
  int i = threadIdx.x;
  if (i < n)
    tile[i] = 1;
  else if (!fault)
    tile[i] = 0;
  __syncthreads();
  int sum = 0;
  for (int j = 0; j < 64; ++j)
    sum += tile[j];
  check(sum == n);
}
