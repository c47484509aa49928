// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A block reverses its values through shared memory, with the barrier between store and load.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 128
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  __shared__ int slot[128];
  int i = threadIdx.x;
  slot[i] = i * 3;
  if (!fault)
    __syncthreads();
  int value = slot[127 - i];
  __syncthreads();
  check(value == (127 - i) * 3);
}
