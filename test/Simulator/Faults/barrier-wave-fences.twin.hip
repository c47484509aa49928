// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Both fences around the barrier name the work-group.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 128
// EXPECT: clean

#include "gpu.h"

#ifdef FAULT
#define REACH "wavefront"
#else
#define REACH "workgroup"
#endif

KERNEL k() {
  __shared__ int slot[128];
  int i = threadIdx.x;
  slot[i] = i;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, REACH);
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, REACH);
  expect(slot[127 - i] == 127 - i);
}
