// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Pointers whose space is known at run time only, different from lane to lane: global, shared and stack memory behind
// one pointer, in loads, stores and atomics, through a call that stays a call.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1030 gfx1100 gfx1201
// LAUNCH: --kernel fill --grid 1 --block 64 --arg out:%t.a.npy:i32[64]
// LAUNCH: --kernel mix --grid 1 --block 64 --arg inout:%t.a.npy
// LAUNCH: --kernel check --grid 1 --block 64 --arg in:%t.a.npy

#include "gpu.h"

KERNEL fill(int *a) { a[threadIdx.x] = threadIdx.x; }

__device__ __noinline int bump(int *where, int by) {
  int old = *where;
  *where = old + by;
  return old;
}

KERNEL mix(int *a) {
  __shared__ int shared[64];
  int local[4];
  unsigned i = threadIdx.x;
  shared[i] = 100 + i;
  for (int j = 0; j < 4; ++j)
    local[j] = 200 + i + j;
  int *where = i % 3 == 0 ? a + i : i % 3 == 1 ? shared + i : local + i % 4;
  int old = bump(where, 1000);
  if (i % 3 != 2)
    atomicAdd(where, 5);
  int now = *where;
  __syncthreads();
  a[i] = old + now * 10000;
}

KERNEL check(const int *a) {
  int i = threadIdx.x;
  int old = i % 3 == 0 ? i : i % 3 == 1 ? 100 + i : 200 + i + i % 4;
  expect(a[i] == old + (old + 1000 + (i % 3 == 2 ? 0 : 5)) * 10000);
}
