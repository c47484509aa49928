// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A stencil reads its left neighbour where there is one.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel fill --grid 2 --block 64 --arg out:%t.a.npy:i32[100]
// LAUNCH: --kernel k --grid 2 --block 64 --arg in:%t.a.npy --arg out:%t.b.npy:i32[100] --arg i32:100
// EXPECT: clean

#include "gpu.h"

KERNEL fill(int *a) {
  if (globalThread() < 100)
    a[globalThread()] = 1;
}

KERNEL k(const int *a, int *b, int n) {
  int i = globalThread();
  if (i >= n)
    return;
  int left = fault || i > 0 ? a[i - 1] : 0;
  b[i] = left + a[i];
}
