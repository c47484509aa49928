// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A block hands over a word, and later writes the next one, which nobody reads before that was handed over too.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90 gfx90a gfx942 gfx1100
// LAUNCH: --kernel clear --grid 1 --block 1 --arg out:%t.w.npy:i32[4]
// LAUNCH: --kernel k --grid 2 --block 1 --arg inout:%t.w.npy
// EXPECT: clean

#include "gpu.h"

KERNEL clear(int *words) {
  for (int i = 0; i < 4; ++i)
    words[i] = 0;
}

// words: what is handed over, how many of them.
KERNEL k(int *words) {
  int *count = &words[3];
  if (blockIdx.x == 0) {
    for (int i = 0; i < 3; ++i) {
      words[i] = 10 + i;
      storeRelease(count, i + 1);
    }
    return;
  }
  for (int i = 0; i < 3; ++i) {
    while ((!fault || i == 0) && loadAcquire(count) < i + 1)
      ;
    int got = words[i];
    check(got == 10 + i);
  }
}
