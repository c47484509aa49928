// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Dynamic shared memory is indexed within the size of the launch.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64 --shared 256 --arg i32:64
// EXPECT: clean

#include "gpu.h"

extern __shared__ int dynamic[];

KERNEL k(int n) {
  int i = threadIdx.x;
  dynamic[fault ? i + 1 : i] = i;
  __syncthreads();
  if (i + 1 < n)
    check(dynamic[i + 1] == i + 1);
}
