// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The barrier of gfx12 in its two halves: signal, work that needs nobody, wait.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx1201
// LAUNCH: --kernel k --grid 2 --block 96

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[96];
  int i = threadIdx.x;
  slot[i] = i * 3;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier_signal(-1);
  int other = (i + 50) % 96, right = other * 3;
  __builtin_amdgcn_s_barrier_wait(-1);
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  expect(slot[other] == right);
}
