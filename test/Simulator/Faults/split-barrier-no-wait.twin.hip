// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Signal and wait, the two halves of the barrier of gfx12.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx1201
// LAUNCH: --kernel k --grid 1 --block 96
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[96];
  int i = threadIdx.x;
  slot[i] = i;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier_signal(-1);
  if (!fault)
    __builtin_amdgcn_s_barrier_wait(-1);
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  check(slot[(i + 50) % 96] == (i + 50) % 96);
  if (fault)
    __builtin_amdgcn_s_barrier_wait(-1);
}
