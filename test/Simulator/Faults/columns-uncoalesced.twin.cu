// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Neighbouring lanes write neighbouring words: whole sectors.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 2 --block 64 --arg out:%t.a.npy:i32[64,128]
// EXPECT: clean, sectors ideal

#include "gpu.h"

KERNEL k(int *a) {
  int i = globalThread();
  for (int r = 0; r < 64; ++r) {
    int place = fault ? i * 64 + r : r * 128 + i;
    a[place] = r;
  }
}
