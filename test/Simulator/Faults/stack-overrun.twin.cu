// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// An array on the stack is indexed within its size.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64 --arg i32:3 --arg i32:1000000
// EXPECT: clean

#include "gpu.h"

KERNEL k(int near, int far) {
  int values[8], i = threadIdx.x;
  for (int j = 0; j < 8; ++j)
    values[j] = i + j;
  values[fault ? far : near] = 5;
  expect(values[(i + near) % 8] == (i % 8 == 0 && !fault ? 5 : i + (i + near) % 8));
}
