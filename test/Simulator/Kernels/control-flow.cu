// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Control flow that lanes take apart: a dense switch with fallthrough, nested loops with break and continue, a loop
// with two entries (irreducible), loops of different lengths, and early returns.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1030 gfx1100 gfx1201
// CASE: n=1
// CASE: n=130
// LAUNCH: --kernel walk --grid 2 --block 96 --arg out:%t.a.npy:i32[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 32 --arg in:%t.a.npy --arg i32:{n}

#include "gpu.h"

__device__ int byCase(int x) {
  int value = 0;
  switch (x % 11) {
  case 0:
    value += 3;
    [[fallthrough]];
  case 1:
    value += 5;
    break;
  case 2:
  case 3:
    return x * 7;
  case 4:
    value = -x;
    break;
  case 7:
    for (int i = 0; i < x; ++i)
      value ^= i * x;
    break;
  case 9:
    value = x << 3;
    [[fallthrough]];
  default:
    value += 11;
  }
  return value;
}

/// Both labels are entered from outside the loop that they form.
__device__ int twoEntries(int x) {
  int value = 1, turns = 0;
  if (x & 1)
    goto second;
first:
  value = value * 3 + x;
  if (++turns > x % 5)
    return value;
second:
  value ^= x + turns;
  if (++turns > x % 7)
    return value;
  goto first;
}

__device__ int nested(int x) {
  int value = 0;
  for (int i = 0; i < x % 9; ++i) {
    if (i == x % 4)
      continue;
    for (int j = i; j < 20; j += 2) {
      if (j * i > x)
        break;
      value += j - i;
    }
  }
  return value;
}

__device__ int collatz(int x) {
  int steps = 0;
  for (unsigned y = x + 1; y != 1; ++steps)
    y = y & 1 ? 3 * y + 1 : y / 2;
  return steps;
}

KERNEL walk(int *a, int n) {
  int i = globalThread();
  if (i >= n)
    return;
  int value = byCase(i) + twoEntries(i) * 3;
  if (i % 3 != 1)
    value += nested(i);
  a[i] = value + collatz(i) * 100;
}

/// The same by one lane at a time, so that nothing diverges.
KERNEL check(const int *a, int n) {
  for (unsigned lane = 0; lane < 32; ++lane)
    if (threadIdx.x == lane)
      for (int i = lane; i < n; i += 32) {
        int value = byCase(i) + twoEntries(i) * 3;
        if (i % 3 != 1)
          value += nested(i);
        expect(a[i] == value + collatz(i) * 100);
      }
}
