// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions between f32 and 8-bit floats by the chip: gfx942 has the formats without infinities and negative zero
// (bias 8 for e4m3), later chips those of OCP (bias 7). Values that both hold exactly, rounding, and packing.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx942 gfx950 gfx1201
// LAUNCH: --kernel convert --grid 1 --block 64

#include "gpu.h"

#ifdef __gfx942__
constexpr int codeOfOne = 0x40, codeOfOneE5 = 0x40;
#else
constexpr int codeOfOne = 0x38, codeOfOneE5 = 0x3c;
#endif

KERNEL convert() {
  int i = threadIdx.x % 16;
  float value = i * 0.125f;
  int low = __builtin_amdgcn_cvt_pk_fp8_f32(value, -1.0f, 0x55555555, false);
  expect((low & 0xffff0000) == 0x55550000);
  expect(__builtin_amdgcn_cvt_f32_fp8(low, 0) == value && __builtin_amdgcn_cvt_f32_fp8(low, 1) == -1.0f);
  int high = __builtin_amdgcn_cvt_pk_fp8_f32(1.0f, 1.0625f, 0, true);
  expect(high == (codeOfOne << 16 | codeOfOne << 24));
  int up = __builtin_amdgcn_cvt_pk_fp8_f32(1.1875f, 1.07f, 0, false);
  expect(up == (codeOfOne + 2 | (codeOfOne + 1) << 8));
  int wide = __builtin_amdgcn_cvt_pk_bf8_f32(1.0f, 1.25f, 0, false);
  expect(wide == (codeOfOneE5 | (codeOfOneE5 + 1) << 8));
  expect(__builtin_amdgcn_cvt_f32_bf8(wide, 1) == 1.25f);
}
