// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// 8-bit floats by integer arithmetic: all 256 codes of e4m3 widened to f32 and back, ties to even, saturation, and half
// and bfloat arithmetic rounded at each step.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1030 gfx1100 gfx1201
// LAUNCH: --kernel convert --grid 1 --block 256
// LAUNCH: --kernel narrow --grid 1 --block 64

#include "gpu.h"

__device__ float fromE4M3(uint8_t code) {
  int exponent = code >> 3 & 15, fraction = code & 7;
  float magnitude = exponent ? __builtin_bit_cast(float, (exponent + 120) << 23 | fraction << 20) : fraction * 0x1p-9f;
  return code & 128 ? -magnitude : magnitude;
}

/// Rounds to nearest, ties to even; saturates at 448.
__device__ uint8_t toE4M3(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value), sign = bits >> 24 & 128, magnitude = bits & 0x7fffffff;
  float size = __builtin_bit_cast(float, magnitude);
  if (size >= 464)
    return sign | 0x7e;
  if (size < 0x1p-6f)
    return sign | static_cast<uint32_t>(size * 0x1p9f + 0x1p23f - 0x1p23f);
  magnitude += 0x7ffff + (magnitude >> 20 & 1);
  uint32_t code = (magnitude >> 20) - (120 << 3);
  return sign | (code > 0x7e ? 0x7e : code);
}

KERNEL convert() {
  uint8_t code = threadIdx.x;
  if ((code & 127) == 127)
    return;
  float value = fromE4M3(code);
  expect(toE4M3(value) == code);
  if ((code & 127) < 126) {
    float next = fromE4M3(code + 1), middle = (value + next) / 2;
    expect(toE4M3(middle) == ((code & 1) ? code + 1 : code));
    expect(toE4M3(middle + (next - middle) * 0.125f) == code + 1);
  }
  expect(toE4M3(value * 0x1p18f) == (code & 127 ? (code & 128) | 0x7e : code));
}

KERNEL narrow() {
  int i = threadIdx.x;
  half large = half(2048 + 2 * i);
  expect(static_cast<float>(half(large + half(1))) == 2048 + 2 * i + (i & 1 ? 2 : 0));
  bf16 wide = static_cast<bf16>(256.0f + 2 * i);
  expect(static_cast<float>(static_cast<bf16>(wide + static_cast<bf16>(1.0f))) == 256 + 2 * i + (i & 1 ? 2 : 0));
  half product = half(3) * half(0.1f);
  expect(product == half(0.2998046875f));
}
