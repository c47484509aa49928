// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A buffer is filled anew after a barrier that ends the reads of the last turn.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_90a
// LAUNCH: --kernel fill --grid 1 --block 128 --arg out:%t.a.npy:i32[512]
// LAUNCH: --kernel k --grid 1 --block 128 --arg in:%t.a.npy
// EXPECT: clean

#include "gpu.h"

KERNEL fill(int *a) {
  for (int i = threadIdx.x; i < 512; i += blockDim.x)
    a[i] = sample(i, 63);
}

KERNEL k(const int *a) {
  __shared__ __attribute__((aligned(16))) int buffer[512];
  int i = threadIdx.x;
  for (int turn = 0; turn < 4; ++turn) {
    copyAsync4(&buffer[i], a + turn * 128 + i);
    copyCommit();
    copyWait<0>();
    __syncthreads();
    check(buffer[127 - i] == sample(turn * 128 + 127 - i, 63));
    if (!fault)
      __syncthreads();
  }
}
