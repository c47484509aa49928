// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Both halves of the wave hold the same operands, as gfx11 demands.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx1100
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int lane = threadIdx.x;
  half16 a = {}, b = {};
  for (int e = 0; e < 16; ++e) {
    int k = e;
    if (fault && lane >= 16)
      continue;
    a[e] = sample(lane % 16 * 16 + k, 69);
    b[e] = sample(lane % 16 * 16 + k, 70);
  }
  float8 d = {};
  d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, d);
  for (int r = 0; r < 8; ++r) {
    int row = 2 * r + lane / 16, sum = 0;
    for (int l = 0; l < 16; ++l)
      sum += sample(row * 16 + l, 69) * sample(lane % 16 * 16 + l, 70);
    check(d[r] == sum);
  }
}
