// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The right operand lies row by row in k, so it is loaded transposed.
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
  __shared__ __attribute__((aligned(128))) half a[16 * 24], b[16 * 8];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32)
    a[i / 16 * 24 + i % 16] = left(i / 16, i % 16);
  for (int i = lane; i < 128; i += 32)
    b[i] = right(i % 8, i / 8);
  __syncwarp();
  uint2 fragment = loadMatrix2Transposed(&b[lane % 16 * 8]);
  if (fault) {
    uint4 plain = loadMatrix4(&b[lane % 16 * 8]);
    fragment = uint2{plain[0], plain[1]};
  }
  float4 d = mmaF16(loadMatrix4(&a[lane % 16 * 24 + lane / 16 * 8]), fragment, float4{0, 0, 0, 0});
  for (int i = 0; i < 4; ++i)
    expect(d[i] == sum(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2));
}
