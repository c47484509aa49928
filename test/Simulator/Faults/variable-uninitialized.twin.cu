// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A variable has a value on every path to its use.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// OPT: 0
// LAUNCH: --kernel k --grid 1 --block 64 --arg out:%t.a.npy:i32[64] --arg i32:40
// EXPECT: clean

#include "gpu.h"

#pragma clang diagnostic ignored "-Wsometimes-uninitialized"

KERNEL k(int *a, int n) {
  int value;
  if (static_cast<int>(threadIdx.x) < n)
    value = 7;
  else if (!fault)
    value = 8;
  a[threadIdx.x] = value > 7 ? 1 : 2;
}
