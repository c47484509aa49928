// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loads from global memory straight into LDS: each wave gives one LDS address, lane l's word lands 4 * l bytes after
// it; the data may be read after a wait for the vector memory counter.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx90a gfx942 gfx950
// CASE: n=128 grid=1
// CASE: n=640 grid=3
// LAUNCH: --kernel fill --grid 4 --block 64 --arg out:%t.a.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel reverse --grid {grid} --block 128 --arg in:%t.a.npy --arg out:%t.b.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 64 --arg in:%t.b.npy --arg i32:{n}

#include "gpu.h"

KERNEL fill(int *a, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    a[i] = sample(i, 53);
}

KERNEL reverse(int *a, int *b, int n) {
  __shared__ int piece[128];
  for (int base = blockIdx.x * 128; base < n; base += gridDim.x * 128) {
    int wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64);
    __builtin_amdgcn_global_load_lds((GLOBAL_SPACE void *)(a + base + threadIdx.x),
                                     (LOCAL_SPACE void *)(piece + wave * 64), 4, 0, 0);
    __builtin_amdgcn_s_waitcnt(0x0f70);
    __syncthreads();
    b[base + threadIdx.x] = piece[127 - threadIdx.x];
    __syncthreads();
  }
}

KERNEL check(const int *b, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    expect(b[i] == sample(i / 128 * 128 + 127 - i % 128, 53));
}
