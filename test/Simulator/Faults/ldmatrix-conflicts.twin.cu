// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rows of 24 halves: eight rows lie in different banks, so ldmatrix needs no more passes than its bytes.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean, wavefronts ideal

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
constexpr int pitch = fault ? 64 : 24;

KERNEL k() {
  __shared__ __attribute__((aligned(128))) half tile[16 * pitch];
  int lane = threadIdx.x;
  uint32_t *words = reinterpret_cast<uint32_t *>(tile);
  for (int i = lane; i < 16 * pitch / 2; i += 32)
    words[i] = packed(left(i * 2 / pitch, i * 2 % pitch), left(i * 2 / pitch, i * 2 % pitch + 1));
  __syncwarp();
  uint4 a = loadMatrix4(&tile[lane % 16 * pitch + lane / 16 * 8]);
  for (int i = 0; i < 4; ++i)
    expect(a[i] == packed(left(lane / 4 + i % 2 * 8, lane % 4 * 2 + i / 2 * 8),
                          left(lane / 4 + i % 2 * 8, lane % 4 * 2 + i / 2 * 8 + 1)));
}
