// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One 16x16x32 product of bytes by MFMA, fragments read from memory by index: row or column lane % 16, eight bytes of k
// from 8 * (lane / 16).
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx942 gfx950
// LAUNCH: --kernel fill --grid 1 --block 128 --arg out:%t.a.npy:i8[16,32] --arg out:%t.b.npy:i8[16,32]
// LAUNCH: --kernel product --grid 1 --block 64 --arg in:%t.a.npy --arg in:%t.b.npy --arg out:%t.c.npy:i32[16,16]
// LAUNCH: --kernel check --grid 1 --block 256 --arg in:%t.c.npy

#include "gpu.h"

KERNEL fill(int8_t *a, int8_t *b) {
  for (int i = threadIdx.x; i < 16 * 32; i += blockDim.x) {
    a[i] = sample(i, 42);
    b[i] = sample(i, 43);
  }
}

KERNEL product(const int64_t *a, const int64_t *b, int *c) {
  unsigned lane = threadIdx.x, place = lane % 16 * 4 + lane / 16;
  int4 sum = __builtin_amdgcn_mfma_i32_16x16x32_i8(a[place], b[place], int4{0, 0, 0, 0}, 0, 0, 0);
  for (int r = 0; r < 4; ++r)
    c[(lane / 16 * 4 + r) * 16 + lane % 16] = sum[r];
}

KERNEL check(const int *c) {
  int i = threadIdx.x, sum = 0;
  for (int l = 0; l < 32; ++l)
    sum += sample(i / 16 * 32 + l, 42) * sample(i % 16 * 32 + l, 43);
  expect(c[i] == sum);
}
