// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The source of a bulk store is stored to again after the wait for its reads.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90 sm_90a
// LAUNCH: --kernel fill --grid 1 --block 128 --arg out:%t.a.npy:i32[512]
// LAUNCH: --kernel k --grid 1 --block 64 --arg in:%t.a.npy --arg out:%t.b.npy:i32[128]
// EXPECT: clean

#include "gpu.h"

KERNEL fill(int *a) {
  for (int i = threadIdx.x; i < 512; i += blockDim.x)
    a[i] = sample(i, 64);
}

KERNEL k(const int *a, int *b) {
  __shared__ __attribute__((aligned(128))) int buffer[128];
  int i = threadIdx.x;
  for (int j = i; j < 128; j += 64)
    buffer[j] = a[j] + 1;
  fenceProxyAsync();
  __syncthreads();
  if (i == 0) {
    bulkStore(b, buffer, 512);
    bulkCommit();
    if (!fault)
      bulkWaitRead();
  }
  __syncthreads();
  buffer[i] = 0;
  if (i == 0)
    bulkWait();
}
