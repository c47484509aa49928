// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The four registers of the left operand: rows g and g + 8 at columns 2t, then the same at columns 2t + 8.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean

#include "gpu.h"

__device__ half left(int row, int k) { return half(sample(row * 16 + k, 60)); }
__device__ half right(int column, int k) { return half(sample(column * 16 + k, 61)); }

__device__ int sum(int row, int column) {
  int result = 0;
  for (int k = 0; k < 16; ++k)
    result += sample(row * 16 + k, 60) * sample(column * 16 + k, 61);
  return result;
}

__device__ uint32_t packed(half low, half high) {
  return __builtin_bit_cast(uint16_t, low) | __builtin_bit_cast(uint16_t, high) << 16;
}

KERNEL k() {
  int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2;
  uint4 a;
  for (int i = 0; i < 4; ++i) {
    int row = g + 8 * (fault ? i / 2 : i % 2), column = t + 8 * (fault ? i % 2 : i / 2);
    a[i] = packed(left(row, column), left(row, column + 1));
  }
  uint2 b = {packed(right(g, t), right(g, t + 1)), packed(right(g, t + 8), right(g, t + 9))};
  float4 d = mmaF16(a, b, float4{0, 0, 0, 0});
  for (int i = 0; i < 4; ++i)
    expect(d[i] == sum(g + i / 2 * 8, t + i % 2));
}
