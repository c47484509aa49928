// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Locks that the lanes of a warp take one after the other while the others spin, which needs lanes that are scheduled
// for themselves: a lock of the grid, one in shared memory, a lock that is given back in another branch than the
// spinning one, and lanes that wait for another lane's flag. And warps that spin on shared memory until another one has
// seen a flag of another block.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90
// CASE: grid=1 block=32
// CASE: grid=3 block=70
// LAUNCH: --kernel clear --grid 1 --block 1 --arg out:%t.c.npy:i32[4]
// LAUNCH: --kernel locked --grid {grid} --block {block} --arg inout:%t.c.npy
// LAUNCH: --kernel check --grid 1 --block 1 --arg in:%t.c.npy --arg i32:{grid} --arg i32:{block}
// LAUNCH: --kernel flags --grid 1 --block {block}
// LAUNCH: --kernel relay --grid 2 --block {block} --arg inout:%t.c.npy

#include "gpu.h"

KERNEL clear(int *cells) {
  for (int i = 0; i < 4; ++i)
    cells[i] = 0;
}

__device__ void lock(int *cell) {
  while (atomicCas(cell, 0, 1) != 0)
    ;
  __threadfence();
}
__device__ void unlock(int *cell) {
  __threadfence();
  atomicExchange(cell, 0);
}

// cells: lock, counter.
KERNEL locked(int *cells) {
  __shared__ int own, count;
  if (threadIdx.x == 0)
    own = count = 0;
  __syncthreads();
  lock(&cells[0]);
  cells[1] += 1;
  unlock(&cells[0]);
  lock(&own);
  int old = count;
  count = old + 1;
  // The last one to come gives it back elsewhere.
  if (old + 1 == static_cast<int>(blockDim.x)) {
    expect(count == static_cast<int>(blockDim.x));
    unlock(&own);
  } else {
    unlock(&own);
  }
}

KERNEL check(const int *cells, int grid, int block) { expect(cells[0] == 0 && cells[1] == grid * block); }

/// Every lane waits for its right neighbour's flag; the last one raises its own at once, in a branch of its own.
KERNEL flags() {
  __shared__ volatile int flag[1024];
  int i = threadIdx.x, last = blockDim.x - 1;
  flag[i] = 0;
  __syncthreads();
  if (i != last) {
    while (flag[i + 1] == 0)
      ;
    flag[i] = flag[i + 1] + 1;
  } else {
    flag[i] = 1;
  }
  __syncthreads();
  expect(flag[i] == last - i + 1);
}

// cells[2], cells[3]: flags of the two blocks.
KERNEL relay(int *cells) {
  __shared__ volatile int seen;
  if (threadIdx.x == 0)
    seen = 0;
  __syncthreads();
  if (threadIdx.x == blockDim.x - 1) {
    if (blockIdx.x == 1)
      storeRelease(&cells[3], 7);
    while (loadAcquire(&cells[3]) == 0)
      ;
    seen = 1;
  }
  while (seen == 0)
    ;
}
