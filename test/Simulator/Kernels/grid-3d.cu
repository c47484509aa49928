// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Blocks and threads in three dimensions: every id and extent, each thread writes its own place.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1030 gfx1100 gfx1201
// CASE: g=3,2,2 b=5,3,2 n=360
// CASE: g=1,1,4 b=1,1,7 n=28
// LAUNCH: --kernel number --grid {g} --block {b} --arg out:%t.a.npy:i32[{n}]
// LAUNCH: --kernel check --grid 1 --block 64 --arg in:%t.a.npy --arg i32:{n}

#include "gpu.h"

KERNEL number(int *a) {
  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  a[i] = i * 3 + 1;
}

KERNEL check(const int *a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    expect(a[i] == i * 3 + 1);
}
