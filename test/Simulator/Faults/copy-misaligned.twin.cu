// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Copies of 16 bytes go to multiples of 16 bytes.
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
  if (i < 120)
    copyAsync16(&buffer[i * 4 + (fault ? 2 : 0)], a + i * 4);
  copyCommit();
  copyWait<0>();
  __syncthreads();
  if (i < 120)
    check(buffer[479 - i] == sample(479 - i, 63));
}
