// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A barrier of a work-group with the release fence before and the acquire fence after it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 128
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[128];
  int i = threadIdx.x;
  slot[i] = i;
  if (!fault)
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  if (!fault)
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  expect(slot[127 - i] == 127 - i);
}
