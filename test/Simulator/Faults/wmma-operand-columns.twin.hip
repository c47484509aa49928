// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// On gfx12 each half of the wave holds its own columns: four of the first eight, then four of the last.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx1201
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int lane = threadIdx.x;
  half8 a = {}, b = {};
  for (int e = 0; e < 8; ++e) {
    int k = e / 4 * 8 + lane / 16 * 4 + e % 4;
    a[e] = sample(lane % 16 * 16 + (fault ? lane / 16 * 8 + e : k), 69);
    b[e] = sample(lane % 16 * 16 + k, 70);
  }
  float8 d = {};
  d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, d);
  for (int r = 0; r < 8; ++r) {
    int row = lane / 16 * 8 + r, sum = 0;
    for (int l = 0; l < 16; ++l)
      sum += sample(row * 16 + l, 69) * sample(lane % 16 * 16 + l, 70);
    expect(d[r] == sum);
  }
}
