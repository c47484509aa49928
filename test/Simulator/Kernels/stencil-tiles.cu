// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Stencil of nine points over a ragged plane: tiles with a halo in shared memory, two sweeps in one launch between two
// buffers of the block, and edges that repeat the outermost value.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_75 sm_90 gfx942 gfx906 gfx1100
// CASE: w=1 h=1 gx=1 gy=1
// CASE: w=16 h=8 gx=1 gy=1
// CASE: w=37 h=21 gx=3 gy=3
// LAUNCH: --kernel fill --grid 2 --block 128 --arg out:%t.x.npy:i32[{h},{w}] --arg i32:{w} --arg i32:{h}
// LAUNCH: --kernel stencil --grid {gx},{gy} --block 16,8 --arg in:%t.x.npy --arg out:%t.y.npy:i32[{h},{w}] --arg i32:{w} --arg i32:{h}
// LAUNCH: --kernel check --grid 1 --block 96 --arg in:%t.x.npy --arg in:%t.y.npy --arg i32:{w} --arg i32:{h}

#include "gpu.h"

constexpr int tileW = 16, tileH = 8, halo = 2, innerW = tileW + 2, innerH = tileH + 2;

KERNEL fill(int *x, int w, int h) {
  for (int i = globalThread(); i < w * h; i += globalThreads())
    x[i] = sample(i, 111);
}

__device__ int clamp(int value, int size) { return value < 0 ? 0 : value >= size ? size - 1 : value; }

KERNEL stencil(const int *x, int *y, int w, int h) {
  __shared__ int outer[tileH + 2 * halo][tileW + 2 * halo], inner[innerH][innerW];
  int left = blockIdx.x * tileW, top = blockIdx.y * tileH, thread = threadIdx.y * tileW + threadIdx.x;
  for (int i = thread; i < (tileH + 2 * halo) * (tileW + 2 * halo); i += tileW * tileH) {
    int row = i / (tileW + 2 * halo), column = i % (tileW + 2 * halo);
    outer[row][column] = x[clamp(top + row - halo, h) * w + clamp(left + column - halo, w)];
  }
  __syncthreads();
  auto sum = [](const auto &values, int row, int column) {
    int total = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        total += (i == 1 && j == 1 ? 4 : 1) * values[row + i][column + j];
    return total;
  };
  // Points of the inner halo that lie outside repeat those inside, which the same block computes.
  for (int i = thread; i < innerH * innerW; i += tileW * tileH) {
    int row = clamp(top + i / innerW - 1, h) - top + 1, column = clamp(left + i % innerW - 1, w) - left + 1;
    inner[i / innerW][i % innerW] = sum(outer, row, column);
  }
  __syncthreads();
  int row = top + threadIdx.y, column = left + threadIdx.x;
  if (row < h && column < w)
    y[row * w + column] = sum(inner, threadIdx.y, threadIdx.x);
}

__device__ int once(const int *x, int row, int column, int w, int h) {
  int total = 3 * x[row * w + column];
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      total += x[clamp(row + i, h) * w + clamp(column + j, w)];
  return total;
}

KERNEL check(const int *x, const int *y, int w, int h) {
  for (int i = threadIdx.x; i < w * h; i += blockDim.x) {
    int row = i / w, column = i % w, total = 3 * once(x, row, column, w, h);
    for (int r = -1; r <= 1; ++r)
      for (int c = -1; c <= 1; ++c)
        total += once(x, clamp(row + r, h), clamp(column + c, w), w, h);
    expect(y[i] == total);
  }
}
