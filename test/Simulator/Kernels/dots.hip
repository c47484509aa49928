// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Dot products of two halves and of four bytes that are added to a sum, with the instruction that each generation has.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// LAUNCH: --kernel dots --grid 1 --block 64

#include "gpu.h"

__device__ int dotBytes(int a, int b, int sum) {
#if defined(__GFX11__) || defined(__GFX12__)
  return __builtin_amdgcn_sudot4(true, a, true, b, sum, false);
#else
  return __builtin_amdgcn_sdot4(a, b, sum, false);
#endif
}

KERNEL dots() {
  int lane = threadIdx.x, right = 100, a = 0, b = 0;
  for (int i = 0; i < 4; ++i) {
    int x = sample(lane * 4 + i, 47) * 9, y = sample(lane * 4 + i, 48) * 7;
    a |= (x & 255) << (8 * i);
    b |= (y & 255) << (8 * i);
    right += x * y;
  }
  expect(dotBytes(a, b, 100) == right);
  half2 x = {half(sample(lane, 49)), half(sample(lane, 50))}, y = {half(sample(lane, 51)), half(sample(lane, 52))};
  int sum = sample(lane, 49) * sample(lane, 51) + sample(lane, 50) * sample(lane, 52);
  expect(__builtin_amdgcn_fdot2(x, y, 0.5f, false) == sum + 0.5f);
}
