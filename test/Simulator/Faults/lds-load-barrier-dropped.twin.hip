// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loads straight into LDS, a wait, and a barrier before other waves read.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx90a gfx942
// LAUNCH: --kernel fill --grid 1 --block 128 --arg out:%t.a.npy:i32[128]
// LAUNCH: --kernel k --grid 1 --block 128 --arg in:%t.a.npy
// EXPECT: clean

#include "gpu.h"

KERNEL fill(int *a) { a[threadIdx.x] = sample(threadIdx.x, 71); }

KERNEL k(int *a) {
  __shared__ int piece[128];
  int i = threadIdx.x, wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64);
  __builtin_amdgcn_global_load_lds((GLOBAL_SPACE void *)(a + i), (LOCAL_SPACE void *)(piece + wave * 64), 4, 0, 0);
  __builtin_amdgcn_s_waitcnt(0x0f70);
  if (!fault)
    __syncthreads();
  check(piece[127 - i] == sample(127 - i, 71));
}
