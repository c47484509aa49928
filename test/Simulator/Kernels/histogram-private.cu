// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Histogram with private bins: each warp counts in bins of its own in shared memory, the block adds them up, and the
// sums go to global memory by atomics without a result. Bytes are read four at a time, the rest one by one.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_75 sm_89 sm_90 gfx942 gfx906 gfx1100 gfx1201
// CASE: n=1 grid=1
// CASE: n=1003 grid=3
// CASE: n=4096 grid=5
// LAUNCH: --kernel fill --grid 3 --block 64 --arg out:%t.d.npy:u8[{n}] --arg out:%t.h.npy:i32[64] --arg i32:{n}
// LAUNCH: --kernel histogram --grid {grid} --block 192 --arg in:%t.d.npy --arg inout:%t.h.npy --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 64 --arg in:%t.d.npy --arg in:%t.h.npy --arg i32:{n}

#include "gpu.h"

constexpr int bins = 64, blockThreads = 192, copies = blockThreads / warpWidth;

KERNEL fill(uint8_t *data, int *total, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    data[i] = static_cast<uint8_t>(sample(i, 71) * 16 + sample(i, 72));
  if (globalThread() < bins)
    total[globalThread()] = 0;
}

__device__ int binOf(uint8_t value) { return value % bins; }

KERNEL histogram(const uint8_t *data, int *total, int n) {
  __shared__ unsigned counts[copies][bins + 1];
  for (int i = threadIdx.x; i < copies * (bins + 1); i += blockDim.x)
    (&counts[0][0])[i] = 0;
  __syncthreads();
  unsigned *mine = counts[threadIdx.x / warpWidth];
  const uint32_t *words = reinterpret_cast<const uint32_t *>(data);
  for (int i = globalThread(); i < n / 4; i += globalThreads()) {
    uint32_t word = words[i];
    for (int b = 0; b < 4; ++b)
      __scoped_atomic_fetch_add(&mine[binOf(static_cast<uint8_t>(word >> 8 * b))], 1u, RELAXED, SCOPE_BLOCK);
  }
  for (int i = n / 4 * 4 + globalThread(); i < n; i += globalThreads())
    __scoped_atomic_fetch_add(&mine[binOf(data[i])], 1u, RELAXED, SCOPE_BLOCK);
  __syncthreads();
  if (threadIdx.x < bins) {
    unsigned sum = 0;
    for (int c = 0; c < copies; ++c)
      sum += counts[c][threadIdx.x];
    if (sum)
      atomicAdd(&total[threadIdx.x], static_cast<int>(sum));
  }
}

KERNEL check(const uint8_t *data, const int *total, int n) {
  int right = 0;
  for (int i = 0; i < n; ++i)
    right += binOf(data[i]) == static_cast<int>(threadIdx.x);
  expect(total[threadIdx.x] == right);
}
