// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operand B of a product stands in LDS row by row; a transposing load gives each lane its column. Of the 4 rows that 16
// lanes read, four lanes in a row name the pieces of one.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx950
// LAUNCH: --kernel k --grid 1 --block 64
// EXPECT: clean

#include "gpu.h"

using short4 = short __attribute__((ext_vector_type(4)));

KERNEL k() {
  __shared__ half rows[16][16];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 64)
    rows[i / 16][i % 16] = sample(i, 71);
  __syncthreads();
  int inRow = lane % 16, row = fault ? inRow % 4 : inRow / 4, piece = fault ? inRow / 4 : inRow % 4;
  short4 read = __builtin_amdgcn_ds_read_tr16_b64_v4i16((LOCAL_SPACE short4 *)&rows[lane / 16 * 4 + row][piece * 4]);
  half4 a, b = __builtin_bit_cast(half4, read);
  for (int e = 0; e < 4; ++e)
    a[e] = sample(lane % 16 * 16 + lane / 16 * 4 + e, 72);
  float4 d = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, float4{0, 0, 0, 0}, 0, 0, 0);
  for (int r = 0; r < 4; ++r) {
    int sum = 0;
    for (int l = 0; l < 16; ++l)
      sum += sample((lane / 16 * 4 + r) * 16 + l, 72) * sample(l * 16 + lane % 16, 71);
    expect(d[r] == sum);
  }
}
