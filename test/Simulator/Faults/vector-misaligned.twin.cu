// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Four floats at once from a place that is a multiple of 16 bytes.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel fill --grid 1 --block 64 --arg out:%t.a.npy:f32[132]
// LAUNCH: --kernel k --grid 1 --block 32 --arg in:%t.a.npy --arg i32:1
// EXPECT: clean

#include "gpu.h"

KERNEL fill(float *a) {
  for (int i = threadIdx.x; i < 132; i += blockDim.x)
    a[i] = i;
}

KERNEL k(const float *a, int shift) {
  const float4 *row = reinterpret_cast<const float4 *>(a + (fault ? shift : 0));
  float4 four = row[threadIdx.x];
  expect(four[0] + four[1] + four[2] + four[3] == threadIdx.x * 16 + 6 + (fault ? shift * 4 : 0));
}
