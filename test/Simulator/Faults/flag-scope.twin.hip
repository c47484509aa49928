// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A flag between blocks is stored with release at the scope of the device.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel zero --grid 1 --block 32 --arg out:%t.f.npy:i32[4]
// LAUNCH: --kernel k --grid 2 --block 64 --arg inout:%t.f.npy --arg out:%t.a.npy:i32[64]
// EXPECT: clean

#include "gpu.h"

KERNEL zero(int *flags) {
  if (threadIdx.x < 4)
    flags[threadIdx.x] = 0;
}

KERNEL k(int *flags, int *data) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x * 3;
    __syncthreads();
    if (threadIdx.x == 0)
      __scoped_atomic_store_n(flags, 1, RELEASE, fault ? SCOPE_BLOCK : SCOPE_DEVICE);
  } else {
    if (threadIdx.x == 0)
      while (!loadAcquire(flags))
        ;
    __syncthreads();
    expect(data[63 - threadIdx.x] == (63 - threadIdx.x) * 3);
  }
}
