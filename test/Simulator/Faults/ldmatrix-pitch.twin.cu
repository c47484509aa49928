// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rows of 24 halves, 48 bytes: each begins at a multiple of 16 bytes, as ldmatrix needs it.
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
constexpr int pitch = fault ? 20 : 24;

KERNEL k() {
  __shared__ __attribute__((aligned(128))) half tile[16 * pitch];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32)
    tile[i / 16 * pitch + i % 16] = left(i / 16, i % 16);
  __syncwarp();
  uint4 a = loadMatrix4(&tile[lane % 16 * pitch + lane / 16 * 8]);
  for (int i = 0; i < 4; ++i)
    check(a[i] == packed(left(lane / 4 + i % 2 * 8, lane % 4 * 2 + i / 2 * 8),
                         left(lane / 4 + i % 2 * 8, lane % 4 * 2 + i / 2 * 8 + 1)));
}
