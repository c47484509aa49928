// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Calls that stay calls, with pointers to the caller's stack, structures by value and by reference, and arrays on the
// stack that lanes index differently: a heap sort of a small array for each thread.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1030 gfx1100 gfx1201
// CASE: n=1
// CASE: n=70
// LAUNCH: --kernel sort --grid 2 --block 64 --arg out:%t.a.npy:i32[{n},12] --arg i32:{n}
// LAUNCH: --kernel check --grid 2 --block 64 --arg in:%t.a.npy --arg i32:{n}

#include "gpu.h"

struct Extremes {
  int low, high;
  int64_t sum;
};

__device__ __noinline void siftDown(int *heap, int from, int count) {
  while (2 * from + 1 < count) {
    int child = 2 * from + 1;
    if (child + 1 < count && heap[child + 1] > heap[child])
      ++child;
    if (heap[from] >= heap[child])
      return;
    int held = heap[from];
    heap[from] = heap[child];
    heap[child] = held;
    from = child;
  }
}

__device__ __noinline Extremes extremes(const int *values, int count) {
  Extremes result = {values[0], values[0], 0};
  for (int i = 0; i < count; ++i) {
    result.low = values[i] < result.low ? values[i] : result.low;
    result.high = values[i] > result.high ? values[i] : result.high;
    result.sum += values[i];
  }
  return result;
}

__device__ __noinline bool same(Extremes a, const Extremes &b) {
  return a.low == b.low && a.high == b.high && a.sum == b.sum;
}

KERNEL sort(int *a, int n) {
  int thread = globalThread(), values[12];
  int count = 3 + thread % 10;
  for (int i = 0; i < 12; ++i)
    values[i] = i < count ? sample(thread * 12 + i, 30) : 100;
  Extremes before = extremes(values, count);
  for (int i = count / 2 - 1; i >= 0; --i)
    siftDown(values, i, count);
  for (int end = count - 1; end > 0; --end) {
    int held = values[0];
    values[0] = values[end];
    values[end] = held;
    siftDown(values, 0, end);
  }
  expect(same(extremes(values, count), before));
  if (thread < n)
    for (int i = 0; i < 12; ++i)
      a[thread * 12 + i] = values[i];
}

KERNEL check(const int *a, int n) {
  int thread = globalThread();
  if (thread >= n)
    return;
  for (int i = 1; i < 3 + thread % 10; ++i)
    expect(a[thread * 12 + i - 1] <= a[thread * 12 + i]);
  for (int i = 3 + thread % 10; i < 12; ++i)
    expect(a[thread * 12 + i] == 100);
}
