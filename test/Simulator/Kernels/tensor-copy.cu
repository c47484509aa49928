// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A box of a matrix through a tensor map that the kernel builds itself: load with 128-byte swizzle and zero fill beyond
// the edges, a check of the swizzled places, and a store through a second map, which leaves out what is beyond.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90a
// CASE: m=16 n=32 gx=1 gy=1
// CASE: m=19 n=44 gx=2 gy=2
// LAUNCH: --kernel fill --grid 4 --block 128 --arg out:%t.a.npy:i32[{m},{n}] --arg i32:{m} --arg i32:{n}
// LAUNCH: --kernel copy --grid {gx},{gy} --block 32 --arg in:%t.a.npy --arg out:%t.b.npy:i32[{m},{n}] --arg out:%t.maps.npy:i32[{gx},{gy},64] --arg i32:{m} --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.b.npy --arg i32:{m} --arg i32:{n}

#include "gpu.h"

KERNEL fill(int *a, int m, int n) {
  for (int i = globalThread(); i < m * n; i += globalThreads())
    a[i] = sample(i, 25);
}

KERNEL copy(const int *a, int *b, uint32_t *maps, int m, int n) {
  __shared__ __attribute__((aligned(1024))) int box[16][32];
  __shared__ __attribute__((aligned(128))) uint32_t scratch[32];
  __shared__ uint64_t full;
  unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  uint32_t *mapA = maps + block * 64, *mapB = mapA + 32;
  makeTensorMap(mapA, scratch, a, n, m, n * 4, 32, 16, 3, false);
  __syncwarp();
  makeTensorMap(mapB, scratch, b, n, m, n * 4, 32, 16, 3, false);
  int x = blockIdx.x * 32, y = blockIdx.y * 16;
  if (threadIdx.x == 0) {
    mbarrierInit(&full, 1);
    mbarrierInitFence();
    mbarrierExpect(&full, sizeof(box));
    tensorLoad2d(box, mapA, x, y, &full);
  }
  __syncwarp();
  mbarrierWait(&full, 0);
  for (int row = 0; row < 16; ++row) {
    int lane = threadIdx.x, chunk = (lane / 4) ^ (row % 8);
    int value = box[row][chunk * 4 + lane % 4];
    bool inside = y + row < m && x + lane < n;
    expect(value == (inside ? sample((y + row) * n + x + lane, 25) : 0));
    box[row][chunk * 4 + lane % 4] = value + 1;
  }
  fenceProxyAsync();
  __syncwarp();
  if (threadIdx.x == 0) {
    tensorStore2d(mapB, box, x, y);
    bulkCommit();
    bulkWait();
  }
}

KERNEL check(const int *b, int m, int n) {
  for (int i = threadIdx.x; i < m * n; i += blockDim.x)
    expect(b[i] == sample(i, 25) + 1);
}
