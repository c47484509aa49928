// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A walk through numbers that stops after a given number of steps.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 gfx942
// OPT: 2
// LAUNCH: --kernel k --grid 1 --block 32 --arg out:%t.a.npy:i32[32] --arg i32:100 --budget 20000
// EXPECT: clean

#include "gpu.h"

KERNEL k(int *a, int n) {
  unsigned x = threadIdx.x + 1;
  for (int i = 0; x && (fault || i < n); ++i) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    keep(i);
  }
  a[threadIdx.x] = x;
}
