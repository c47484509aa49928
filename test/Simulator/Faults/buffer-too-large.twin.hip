// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The size in a buffer resource is that of the memory, so stores beyond it are dropped.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64 --arg out:%t.a.npy:i32[50] --arg i32:50
// EXPECT: clean

#include "gpu.h"

#if defined(__GFX9__)
constexpr int resourceFlags = 0x00027000;
#else
constexpr int resourceFlags = 0x31004000;
#endif

KERNEL k(int *a, int n) {
  __amdgpu_buffer_rsrc_t to = __builtin_amdgcn_make_buffer_rsrc(a, 0, n * (fault ? 8 : 4), resourceFlags);
  __builtin_amdgcn_raw_buffer_store_b32(threadIdx.x, to, threadIdx.x * 4, 0, 0);
}
