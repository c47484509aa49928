// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tables in constant memory that lanes index differently, a variable of the device that keeps its initial value, and a
// polynomial whose coefficients are constants of several types.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1030 gfx1100 gfx1201
// CASE: n=100
// LAUNCH: --kernel lookup --grid 1 --block 128 --arg out:%t.a.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.a.npy --arg i32:{n}

#include "gpu.h"

__constant__ int squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
__constant__ uint8_t text[] = "tile kernels";
__constant__ double halves[3] = {0.5, 1.5, 2.5};
__device__ int64_t bias = 1000000000000;

struct Step {
  short by;
  uint8_t kind;
};
__constant__ Step steps[4] = {{-3, 1}, {7, 0}, {12, 2}, {-30000, 3}};

KERNEL lookup(int *a, int n) {
  int i = threadIdx.x;
  if (i >= n)
    return;
  Step step = steps[i % 4];
  int value = squares[i % 8] + text[i % 12] * 100 + step.by * step.kind;
  a[i] = value + static_cast<int>(halves[i % 3] * 2) + static_cast<int>(bias / 1000000000);
}

KERNEL check(const int *a, int n) {
  int i = threadIdx.x;
  if (i >= n)
    return;
  char letters[] = "tile kernels";
  int by[4] = {-3, 0, 24, -90000}, j = i % 8;
  expect(a[i] == j * j + letters[i % 12] * 100 + by[i % 4] + i % 3 * 2 + 1 + 1000);
}
