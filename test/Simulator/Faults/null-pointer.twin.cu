// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// An optional operand is used where it is given.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64 --arg out:%t.a.npy:i32[64]
// EXPECT: clean

#include "gpu.h"

KERNEL k(int *a, const int *optional) {
  int i = threadIdx.x;
  a[i] = fault || optional ? optional[i] : i;
}
