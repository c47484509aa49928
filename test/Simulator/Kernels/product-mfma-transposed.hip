// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One 16x16x32 product of bytes by MFMA whose second operand is stored row by row: transposing loads from LDS give each
// lane its column. Rows are padded, so that the 16 lanes that load together hit different banks.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx950
// LAUNCH: --kernel fill --grid 1 --block 128 --arg out:%t.a.npy:i8[16,32] --arg out:%t.b.npy:i8[32,16]
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
  constexpr int rows = 32, rowBytes = 24;
  alignas(8) __shared__ int8_t staged[rows * rowBytes];
  int lane = threadIdx.x;
  *(int64_t *)&staged[lane / 2 * rowBytes + lane % 2 * 8] = b[lane];
  __syncthreads();
  // 16 lanes load 8 rows: two lanes a row, in order.
  int row = lane / 16 * 8 + lane % 16 / 2;
  int2 column = __builtin_amdgcn_ds_read_tr8_b64_v2i32((LOCAL_SPACE int2 *)&staged[row * rowBytes + lane % 2 * 8]);
  int4 sum = __builtin_amdgcn_mfma_i32_16x16x32_i8(a[lane % 16 * 4 + lane / 16], __builtin_bit_cast(int64_t, column),
                                                   int4{0, 0, 0, 0}, 0, 0, 0);
  for (int r = 0; r < 4; ++r)
    c[(lane / 16 * 4 + r) * 16 + lane % 16] = sum[r];
}

KERNEL check(const int *c) {
  int i = threadIdx.x, sum = 0;
  for (int l = 0; l < 32; ++l)
    sum += sample(i / 16 * 32 + l, 42) * sample(l * 16 + i % 16, 43);
  expect(c[i] == sum);
}
