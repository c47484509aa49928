// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The output is stored.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64 --arg out:%t.a.npy:f32[64]
// EXPECT: clean

#include "gpu.h"

KERNEL k(float *a) {
  if (fault)
    a[threadIdx.x] += 1.0f;
  else
    a[threadIdx.x] = 1.0f;
}
