// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Dynamic shared memory beside static: its size comes with the launch, and every byte of it may be used.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1030 gfx1100 gfx1201
// CASE: n=64 bytes=256
// CASE: n=200 bytes=800
// LAUNCH: --kernel reverse --grid 1 --block 256 --shared {bytes} --arg out:%t.a.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 256 --arg in:%t.a.npy --arg i32:{n}

#include "gpu.h"

extern __shared__ int dynamic[];

KERNEL reverse(int *a, int n) {
  __shared__ int salt;
  int i = threadIdx.x;
  if (i == 0)
    salt = 33;
  __syncthreads();
  if (i < n)
    dynamic[i] = sample(i, salt);
  __syncthreads();
  if (i < n)
    a[i] = dynamic[n - 1 - i];
}

KERNEL check(const int *a, int n) {
  int i = threadIdx.x;
  if (i < n)
    expect(a[i] == sample(n - 1 - i, 33));
}
