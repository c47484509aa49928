// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lane l holds row l % 16 and four columns from 4 * (l / 16).
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx90a gfx942
// LAUNCH: --kernel k --grid 1 --block 64
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int lane = threadIdx.x;
  half4 a, b;
  for (int e = 0; e < 4; ++e) {
    int column = lane / 16 * 4 + e;
    a[e] = sample(lane % 16 * 16 + (fault ? lane / 16 + 4 * e : column), 67);
    b[e] = sample(lane % 16 * 16 + column, 68);
  }
  float4 d = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, float4{0, 0, 0, 0}, 0, 0, 0);
  for (int r = 0; r < 4; ++r) {
    int sum = 0;
    for (int l = 0; l < 16; ++l)
      sum += sample((lane / 16 * 4 + r) * 16 + l, 67) * sample(lane % 16 * 16 + l, 68);
    expect(d[r] == sum);
  }
}
