// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A block reads again only what it wrote itself.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 3 --block 64 --arg out:%t.a.npy:i32[192] --arg out:%t.b.npy:i32[192]
// EXPECT: clean

#include "gpu.h"

KERNEL k(int *a, int *b) {
  int i = globalThread();
  a[i] = i;
  __syncthreads();
  int left = threadIdx.x || (fault && i) ? a[i - 1] : 0;
  b[i] = left + a[i];
}
