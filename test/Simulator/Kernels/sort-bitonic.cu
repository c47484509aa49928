// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bitonic sort of rows in shared memory: steps between threads of different warps are separated by block barriers,
// those within a warp by warp barriers only. Rows that are no power of two long are filled up with the largest number.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_75 sm_90 gfx942 gfx906 gfx1100 gfx1201
// CASE: n=1 rows=2
// CASE: n=200 rows=3
// CASE: n=256 rows=1
// LAUNCH: --kernel fill --grid 2 --block 128 --arg out:%t.x.npy:i32[{rows},{n}] --arg i32:{n} --arg i32:{rows}
// LAUNCH: --kernel sort --grid {rows} --block 128 --arg in:%t.x.npy --arg out:%t.y.npy:i32[{rows},{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid {rows} --block 64 --arg in:%t.x.npy --arg in:%t.y.npy --arg i32:{n}

#include "gpu.h"

constexpr int size = 256, blockThreads = 128;

KERNEL fill(int *x, int n, int rows) {
  for (int i = globalThread(); i < n * rows; i += globalThreads())
    x[i] = sample(i, 101) * 16 + sample(i, 102);
}

KERNEL sort(const int *x, int *y, int n) {
  __shared__ int values[size];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  for (int i = threadIdx.x; i < size; i += blockThreads)
    values[i] = i < n ? x[i] : 0x7fffffff;
  __syncthreads();
  for (int length = 2; length <= size; length *= 2)
    for (int step = length / 2; step > 0; step /= 2) {
      int low = 2 * threadIdx.x - (threadIdx.x & (step - 1)), high = low + step;
      int a = values[low], b = values[high];
      if ((a > b) == ((low & length) == 0)) {
        values[low] = b;
        values[high] = a;
      }
      // The next step stays among the 2 * warpWidth values of this warp.
      if (step <= static_cast<int>(warpWidth) && step > 1)
        __syncwarp();
      else
        __syncthreads();
    }
  for (int i = threadIdx.x; i < n; i += blockThreads)
    y[i] = values[i];
}

KERNEL check(const int *x, const int *y, int n) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int smaller = 0, same = 0;
    for (int j = 0; j < n; ++j) {
      smaller += x[j] < x[i];
      same += x[j] == x[i];
    }
    for (int j = 0; j < same; ++j)
      expect(y[smaller + j] == x[i]);
  }
}
