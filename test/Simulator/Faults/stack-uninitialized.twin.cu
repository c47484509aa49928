// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// An array on the stack is filled before lanes read it at places of their own.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64 --arg out:%t.a.npy:i32[64] --arg i32:9
// EXPECT: clean

#include "gpu.h"

KERNEL k(int *a, int n) {
  int values[16];
  for (int j = 0; j < (fault ? n : 16); ++j)
    values[j] = j * n;
  a[threadIdx.x] = values[threadIdx.x % 16];
}
