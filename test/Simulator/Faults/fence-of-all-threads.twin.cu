// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// All threads of a block write and fence before a block barrier, after which one of them raises a flag; in the next
// block one thread waits for it, and all fence after a barrier before they read.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90 gfx90a gfx942 gfx1100
// LAUNCH: --kernel clear --grid 1 --block 1 --arg out:%t.f.npy:i32[4]
// LAUNCH: --kernel k --grid 4 --block 96 --arg inout:%t.f.npy --arg out:%t.d.npy:i32[4,96]
// EXPECT: clean

#include "gpu.h"

KERNEL clear(int *flags) {
  for (int i = 0; i < 4; ++i)
    flags[i] = 0;
}

#ifndef READER_FAULT
constexpr bool readerFences = true;
#else
constexpr bool readerFences = false;
#endif

KERNEL k(int *flags, int *data) {
  int block = blockIdx.x, thread = threadIdx.x, before = 0;
  if (block > 0) {
    if (thread == 0)
      while (loadRelaxed(&flags[block - 1]) == 0)
        ;
    __syncthreads();
    if (readerFences)
      __threadfence();
    before = data[(block - 1) * 96 + 95 - thread];
  }
  data[block * 96 + thread] = before + 1;
  if (!fault || !readerFences)
    __threadfence();
  __syncthreads();
  if (thread == 0)
    storeRelaxed(&flags[block], 1);
  check(before == block);
}
