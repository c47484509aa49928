// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Warp-specialised copy for sm_90: one warp brings pieces of 512 bytes by bulk copies into a ring of three buffers with
// a full and an empty mbarrier each, another adds one to every element and sends it back by bulk stores. The last piece
// is short (multiples of 16 bytes).
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90 sm_90a
// CASE: n=128 grid=1
// CASE: n=1284 grid=1
// CASE: n=2052 grid=2
// LAUNCH: --kernel fill --grid 4 --block 128 --arg out:%t.a.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel pipeline --grid {grid} --block 64 --arg in:%t.a.npy --arg out:%t.b.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.b.npy --arg i32:{n}

#include "gpu.h"

constexpr int stages = 3, piece = 128;

KERNEL fill(int *a, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    a[i] = sample(i, 24);
}

__device__ void produce(int (*buffer)[piece], uint64_t *full, uint64_t *empty, const int *a, int n) {
  int turn = 0;
  for (int i = blockIdx.x * piece; i < n; i += gridDim.x * piece, ++turn) {
    int stage = turn % stages, count = n - i < piece ? n - i : piece;
    if (turn >= stages)
      mbarrierWait(&empty[stage], (turn / stages - 1) & 1);
    mbarrierExpect(&full[stage], count * 4);
    bulkLoad(buffer[stage], a + i, count * 4, &full[stage]);
  }
}

__device__ void consume(int (*buffer)[piece], int *out, uint64_t *full, uint64_t *empty, int *b, int n) {
  int turn = 0, lane = threadIdx.x % 32;
  for (int i = blockIdx.x * piece; i < n; i += gridDim.x * piece, ++turn) {
    int stage = turn % stages, count = n - i < piece ? n - i : piece;
    mbarrierWait(&full[stage], (turn / stages) & 1);
    for (int j = lane; j < count; j += 32)
      out[j] = buffer[stage][j] + 1;
    mbarrierArrive(&empty[stage]);
    fenceProxyAsync();
    __syncwarp();
    if (lane == 0) {
      bulkStore(b + i, out, count * 4);
      bulkCommit();
      bulkWaitRead();
    }
    __syncwarp();
  }
  if (lane == 0)
    bulkWait();
}

KERNEL pipeline(const int *a, int *b, int n) {
  __shared__ __attribute__((aligned(128))) int buffer[stages][piece];
  __shared__ __attribute__((aligned(128))) int out[piece];
  __shared__ uint64_t full[stages], empty[stages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      mbarrierInit(&full[i], 1);
      mbarrierInit(&empty[i], 32);
    }
    mbarrierInitFence();
  }
  __syncthreads();
  if (threadIdx.x == 0)
    produce(buffer, full, empty, a, n);
  else if (threadIdx.x >= 32)
    consume(buffer, out, full, empty, b, n);
}

KERNEL check(const int *b, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    expect(b[i] == sample(i, 24) + 1);
}
