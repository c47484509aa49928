// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The mbarrier expects the bytes of both copies.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90 sm_90a
// LAUNCH: --kernel fill --grid 1 --block 128 --arg out:%t.a.npy:i32[512]
// LAUNCH: --kernel k --grid 1 --block 64 --arg in:%t.a.npy
// EXPECT: clean

#include "gpu.h"

KERNEL fill(int *a) {
  for (int i = threadIdx.x; i < 512; i += blockDim.x)
    a[i] = sample(i, 64);
}

KERNEL k(const int *a) {
  __shared__ __attribute__((aligned(128))) int buffer[128];
  __shared__ uint64_t full;
  int i = threadIdx.x;
  if (i == 0) {
    mbarrierInit(&full, 1);
    mbarrierInitFence();
  }
  __syncthreads();
  if (i == 0) {
    mbarrierExpect(&full, fault ? 256 : 512);
    bulkLoad(buffer, a, 256, &full);
    bulkLoad(buffer + 64, a + 64, 256, &full);
  }
  mbarrierWait(&full, 0);
  for (int j = i; j < 128; j += 64)
    check(buffer[127 - j] == sample(127 - j, 64));
}
