// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A bound on a ragged size.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 2 --block 64 --arg out:%t.a.npy:i32[100] --arg i32:100
// EXPECT: clean

#include "gpu.h"

KERNEL k(int *a, int n) {
  int i = globalThread();
  if (fault ? i <= n : i < n)
    a[i] = i;
}
