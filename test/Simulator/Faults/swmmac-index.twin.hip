// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// On gfx12 a sparse operand has two of each four neighbours; of the four bits that say which, the low two belong to the
// first.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx1201
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean

#include "gpu.h"

/// Which of four neighbours are kept: the first, then the second.
__device__ int keptFirst(int row, int four) { return sample(row * 8 + four, 73) & 1; }
__device__ int keptSecond(int row, int four) { return 2 + (sample(row * 8 + four, 74) & 1); }

KERNEL k() {
  int lane = threadIdx.x, row = lane % 16;
  half8 a = {};
  half16 b = {};
  unsigned index = 0;
  for (int pair = 0; pair < 4; ++pair) {
    int four = 4 * (pair / 2) + 2 * (lane / 16) + pair % 2, first = keptFirst(row, four), second = keptSecond(row, four);
    a[2 * pair] = sample(row * 32 + 4 * four + first, 75);
    a[2 * pair + 1] = sample(row * 32 + 4 * four + second, 75);
    index |= (fault ? first << 2 | second : second << 2 | first) << 4 * pair;
  }
  for (int e = 0; e < 16; ++e)
    b[e] = sample(row * 32 + 16 * (e / 8) + 8 * (lane / 16) + e % 8, 76);
  float8 d = {};
  d = __builtin_amdgcn_swmmac_f32_16x16x32_f16_w32(a, b, d, index);
  for (int r = 0; r < 8; ++r) {
    int i = 8 * (lane / 16) + r, sum = 0;
    for (int four = 0; four < 8; ++four) {
      int first = 4 * four + keptFirst(i, four), second = 4 * four + keptSecond(i, four);
      sum += sample(i * 32 + first, 75) * sample(row * 32 + first, 76);
      sum += sample(i * 32 + second, 75) * sample(row * 32 + second, 76);
    }
    expect(d[r] == sum);
  }
}
