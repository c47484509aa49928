// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Chunks of 16 bytes are stored and loaded at places swizzled by the row in the same way.
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

__device__ int place(int row, int chunk, int by) { return row * 32 + (chunk ^ (by & 3)) * 8; }

KERNEL k() {
  __shared__ __attribute__((aligned(128))) half tile[16 * 32];
  int lane = threadIdx.x;
  for (int i = lane; i < 512; i += 32) {
    int row = i / 32, column = i % 32;
    tile[place(row, column / 8, fault ? row : row / 2) + column % 8] = half(sample(row * 32 + column, 62));
  }
  __syncwarp();
  uint4 a = loadMatrix4(&tile[place(lane % 16, lane / 16, lane % 16 / 2)]);
  for (int i = 0; i < 4; ++i) {
    int first = (lane / 4 + i % 2 * 8) * 32 + lane % 4 * 2 + i / 2 * 8;
    expect(a[i] == packed(half(sample(first, 62)), half(sample(first + 1, 62))));
  }
}
