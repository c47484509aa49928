// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One 16x8x32 product of bytes by mma.sync with fragments read from memory by index, without ldmatrix: row g, columns
// 4t..4t+3 of each 8x16 quarter.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_89 sm_90
// LAUNCH: --kernel fill --grid 1 --block 128 --arg out:%t.a.npy:i8[16,32] --arg out:%t.b.npy:i8[8,32]
// LAUNCH: --kernel product --grid 1 --block 32 --arg in:%t.a.npy --arg in:%t.b.npy --arg out:%t.c.npy:i32[16,8]
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.c.npy

#include "gpu.h"

KERNEL fill(int8_t *a, int8_t *b) {
  for (int i = threadIdx.x; i < 16 * 32; i += blockDim.x)
    a[i] = sample(i, 22);
  for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x)
    b[i] = sample(i, 23);
}

KERNEL product(const uint32_t *a, const uint32_t *b, int *c) {
  unsigned g = threadIdx.x / 4, t = threadIdx.x % 4;
  uint4 left = {a[g * 8 + t], a[(g + 8) * 8 + t], a[g * 8 + t + 4], a[(g + 8) * 8 + t + 4]};
  uint2 right = {b[g * 8 + t], b[g * 8 + t + 4]};
  int4 sum = mmaS8(left, right, int4{0, 0, 0, 0});
  for (int i = 0; i < 4; ++i)
    c[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sum[i];
}

KERNEL check(const int *c) {
  int i = threadIdx.x, sum = 0;
  for (int l = 0; l < 32; ++l)
    sum += sample(i / 8 * 32 + l, 22) * sample(i % 8 * 32 + l, 23);
  expect(c[i] == sum);
}
