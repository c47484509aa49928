// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Columns of a tile with a padding column lie in different banks.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 32,8
// EXPECT: clean, wavefronts ideal

#include "gpu.h"

KERNEL k() {
  __shared__ int tile[32][fault ? 32 : 33];
  int x = threadIdx.x, y = threadIdx.y;
  for (int r = y; r < 32; r += 8)
    tile[r][x] = r * 32 + x;
  __syncthreads();
  for (int r = y; r < 32; r += 8)
    expect(tile[x][r] == x * 32 + r);
}
