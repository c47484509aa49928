// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Offsets of rows are computed in 64 bits and compared with the size.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64 --arg out:%t.a.npy:i32[64] --arg i32:67108864 --arg i32:64
// EXPECT: clean

#include "gpu.h"

KERNEL k(int *a, int pitch, int n) {
  int64_t offset = static_cast<int64_t>(threadIdx.x) * pitch;
  if (fault)
    offset = static_cast<int>(threadIdx.x * static_cast<unsigned>(pitch));
  if (offset < n)
    a[offset] = 1;
  else
    a[threadIdx.x] = 2;
}
