// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Prefix sum in one pass: tiles are drawn by a ticket, each publishes its sum, looks back over the tiles before it
// until one has published its prefix, and publishes its own. Once with value and state in one word, once with values of
// their own behind a fence.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_75 sm_90 gfx942 gfx906 gfx1100 gfx1201
// CASE: n=5 tiles=1
// CASE: n=512 tiles=2
// CASE: n=2300 tiles=9
// LAUNCH: --kernel fill --grid 3 --block 128 --arg out:%t.x.npy:i32[{n}] --arg out:%t.w.npy:i64[{tiles}] --arg out:%t.s.npy:i32[{tiles},3] --arg out:%t.t.npy:i32[2] --arg i32:{n} --arg i32:{tiles}
// LAUNCH: --kernel scanWords --grid {tiles} --block 128 --arg in:%t.x.npy --arg out:%t.y.npy:i32[{n}] --arg inout:%t.w.npy --arg inout:%t.t.npy --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.x.npy --arg in:%t.y.npy --arg i32:{n}
// LAUNCH: --kernel scanFenced --grid {tiles} --block 128 --arg in:%t.x.npy --arg out:%t.z.npy:i32[{n}] --arg inout:%t.s.npy --arg inout:%t.t.npy --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.x.npy --arg in:%t.z.npy --arg i32:{n}

#include "gpu.h"

constexpr int blockThreads = 128, perThread = 2, tileSize = blockThreads * perThread;
constexpr unsigned stateSum = 1, statePrefix = 2;

KERNEL fill(int *x, int64_t *words, int *states, int *tickets, int n, int tiles) {
  for (int i = globalThread(); i < n; i += globalThreads())
    x[i] = sample(i, 81);
  for (int i = globalThread(); i < tiles; i += globalThreads()) {
    words[i] = 0;
    states[3 * i] = 0;
  }
  if (globalThread() < 2)
    tickets[globalThread()] = 0;
}

__device__ int drawTile(int *ticket) {
  __shared__ int tile;
  if (threadIdx.x == 0)
    tile = atomicAdd(ticket, 1);
  __syncthreads();
  return tile;
}

/// Exclusive prefix of each thread and the sum of all.
__device__ int scanBlock(int value, int &sum) {
  __shared__ int ofWarp[blockThreads / warpWidth];
  int lane = threadIdx.x % warpWidth, warp = threadIdx.x / warpWidth, inclusive = value;
  for (unsigned by = 1; by < warpWidth; by *= 2) {
    int left = shuffleUp(inclusive, by);
    if (lane >= static_cast<int>(by))
      inclusive += left;
  }
  if (lane == static_cast<int>(warpWidth) - 1)
    ofWarp[warp] = inclusive;
  __syncthreads();
  int before = 0;
  sum = 0;
  for (int w = 0; w < static_cast<int>(blockThreads / warpWidth); ++w) {
    before += w < warp ? ofWarp[w] : 0;
    sum += ofWarp[w];
  }
  return before + inclusive - value;
}

template <class LookBack> __device__ void scan(const int *x, int *y, int *ticket, int n, LookBack lookBack) {
  __shared__ int before;
  int tile = drawTile(ticket), first = tile * tileSize + threadIdx.x * perThread, values[perThread], mine = 0, sum;
  for (int i = 0; i < perThread; ++i) {
    values[i] = first + i < n ? x[first + i] : 0;
    mine += values[i];
  }
  int prefix = scanBlock(mine, sum);
  if (threadIdx.x == 0)
    before = lookBack(tile, sum);
  __syncthreads();
  prefix += before;
  for (int i = 0; i < perThread; ++i) {
    prefix += values[i];
    if (first + i < n)
      y[first + i] = prefix;
  }
}

__device__ int64_t pack(unsigned state, int value) {
  return static_cast<int64_t>(static_cast<uint64_t>(state) << 32 | static_cast<uint32_t>(value));
}

KERNEL scanWords(const int *x, int *y, int64_t *words, int *tickets, int n) {
  scan(x, y, &tickets[0], n, [=](int tile, int sum) {
    storeRelaxed(&words[tile], pack(tile ? stateSum : statePrefix, sum));
    int before = 0;
    for (int other = tile - 1; other >= 0; --other) {
      int64_t word;
      do
        word = loadRelaxed(&words[other]);
      while (word == 0);
      before += static_cast<int>(word);
      if (word >> 32 == statePrefix)
        break;
    }
    storeRelaxed(&words[tile], pack(statePrefix, before + sum));
    return before;
  });
}

// states: of each tile its state, sum and prefix.
KERNEL scanFenced(const int *x, int *y, int *states, int *tickets, int n) {
  scan(x, y, &tickets[1], n, [=](int tile, int sum) {
    states[3 * tile + 1] = sum;
    __threadfence();
    storeRelaxed(&states[3 * tile], static_cast<int>(stateSum));
    int before = 0;
    for (int other = tile - 1; other >= 0; --other) {
      int state;
      do
        state = loadRelaxed(&states[3 * other]);
      while (state == 0);
      __threadfence();
      before += states[3 * other + state];
      if (state == statePrefix)
        break;
    }
    states[3 * tile + 2] = before + sum;
    __threadfence();
    storeRelaxed(&states[3 * tile], static_cast<int>(statePrefix));
    return before;
  });
}

KERNEL check(const int *x, const int *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int sum = 0;
    for (int j = 0; j <= i; ++j)
      sum += x[j];
    expect(y[i] == sum);
  }
}
