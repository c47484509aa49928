// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Register r of lane l holds row 8 * (r / 4) + 4 * (l / 32) + r % 4 of a 32x32 result.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx908 gfx942
// LAUNCH: --kernel k --grid 1 --block 64
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int lane = threadIdx.x;
  half4 a, b;
  for (int e = 0; e < 4; ++e) {
    a[e] = sample(lane % 32 * 8 + lane / 32 * 4 + e, 67);
    b[e] = sample(lane % 32 * 8 + lane / 32 * 4 + e, 68);
  }
  float16 d = {};
  d = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, d, 0, 0, 0);
  for (int r = 0; r < 16; ++r) {
    int row = fault ? lane / 32 * 16 + r : r / 4 * 8 + lane / 32 * 4 + r % 4, sum = 0;
    for (int l = 0; l < 8; ++l)
      sum += sample(row * 8 + l, 67) * sample(lane % 32 * 8 + l, 68);
    expect(d[r] == sum);
  }
}
