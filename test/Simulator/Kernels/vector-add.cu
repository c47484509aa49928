// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sums of two vectors with a bound, in a grid-stride loop and in one pass; sizes that end inside a warp, a block and a
// sector.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// CASE: n=1 grid=1
// CASE: n=31 grid=1
// CASE: n=1000 grid=2
// CASE: n=1025 grid=5
// LAUNCH: --kernel fill --grid {grid} --block 256 --arg out:%t.a.npy:f32[{n}] --arg out:%t.b.npy:f32[{n}] --arg i32:{n}
// LAUNCH: --kernel add --grid {grid} --block 256 --arg in:%t.a.npy --arg in:%t.b.npy --arg out:%t.c.npy:f32[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 64 --arg in:%t.c.npy --arg i32:{n}

#include "gpu.h"

KERNEL fill(float *a, float *b, int n) {
  for (int i = globalThread(); i < n; i += globalThreads()) {
    a[i] = sample(i, 1);
    b[i] = sample(i, 2);
  }
}

KERNEL add(const float *a, const float *b, float *c, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    c[i] = a[i] + b[i];
}

KERNEL check(const float *c, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    expect(c[i] == sample(i, 1) + sample(i, 2));
}
