// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The last copy reads no more bytes than there are and fills up with zeros.
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
  int left = (500 - i * 4 + (fault ? 16 : 0)) * 4;
  const int *from = left > 0 ? a + 12 + i * 4 : a;
  copyAsync16(&buffer[i * 4], from, left < 0 ? 0 : left < 16 ? left : 16);
  copyCommit();
  copyWait<0>();
  __syncthreads();
  int place = 511 - i;
  check(buffer[place] == (place < 500 ? sample(place + 12, 63) : 0));
}
