// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Raw buffer loads and stores through a resource whose size stops the bounds: what lies beyond reads as zero, and
// stores there are dropped, so the kernel needs no branches.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// CASE: n=1 grid=1
// CASE: n=1001 grid=4
// LAUNCH: --kernel fill --grid {grid} --block 64 --arg out:%t.a.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel copy --grid {grid} --block 64 --arg in:%t.a.npy --arg out:%t.b.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 64 --arg in:%t.b.npy --arg i32:{n}

#include "gpu.h"

#if defined(__GFX9__)
constexpr int resourceFlags = 0x00027000;
#elif defined(__GFX10__)
constexpr int resourceFlags = 0x31014000;
#else
constexpr int resourceFlags = 0x31004000;
#endif

KERNEL fill(int *a, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    a[i] = sample(i, 46);
}

KERNEL copy(int *a, int *b, int n) {
  __amdgpu_buffer_rsrc_t from = __builtin_amdgcn_make_buffer_rsrc(a, 0, n * 4, resourceFlags);
  __amdgpu_buffer_rsrc_t to = __builtin_amdgcn_make_buffer_rsrc(b, 0, n * 4, resourceFlags);
  int place = globalThread() * 16;
  uint4 four = __builtin_amdgcn_raw_buffer_load_b128(from, place, 0, 0);
  for (int i = 0; i < 4; ++i) {
    int index = globalThread() * 4 + i;
    uint32_t one = __builtin_amdgcn_raw_buffer_load_b32(from, place, i * 4, 0);
    expect(one == four[i] && static_cast<int>(one) == (index < n ? sample(index, 46) : 0));
    __builtin_amdgcn_raw_buffer_store_b32(one + 1, to, place + i * 4, 0, 0);
  }
}

KERNEL check(const int *b, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    expect(b[i] == sample(i, 46) + 1);
}
