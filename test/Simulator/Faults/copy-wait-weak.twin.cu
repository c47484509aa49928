// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Two groups of copies; the wait lets none be pending before the second is read.
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
  copyAsync4(&buffer[i], a + i);
  copyCommit();
  copyAsync4(&buffer[128 + i], a + 128 + i);
  copyCommit();
  copyWait<fault ? 1 : 0>();
  __syncthreads();
  expect(buffer[127 - i] == sample(127 - i, 63));
  check(buffer[255 - i] == sample(255 - i, 63));
}
