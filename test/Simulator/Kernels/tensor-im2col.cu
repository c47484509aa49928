// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A convolution of images with 3x3 filters, whose taps are loaded in im2col mode: 32 places of the result at a time,
// with a border of one, every place or every second one.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90 sm_90a
// CASE: n=2 h=5 w=9 step=1 oh=5 ow=9 grid=3
// CASE: n=3 h=8 w=7 step=2 oh=4 ow=4 grid=2
// LAUNCH: --kernel fill --grid 4 --block 128 --arg out:%t.a.npy:i32[{n},{h},{w},8] --arg i32:{n} --arg i32:{h} --arg i32:{w}
// LAUNCH: --kernel convolve --grid {grid} --block 32 --arg map[32,8,lower=-1x-1,upper=-1x-1,step={step}x{step}]:in:%t.a.npy --arg out:%t.o.npy:i32[{n},{oh},{ow}] --arg i32:{n} --arg i32:{oh} --arg i32:{ow} --arg i32:{step}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.a.npy --arg in:%t.o.npy --arg i32:{n} --arg i32:{h} --arg i32:{w} --arg i32:{oh} --arg i32:{ow} --arg i32:{step}

#include "gpu.h"

constexpr int channels = 8, places = 32;

struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

__device__ int filterAt(int dy, int dx, int c) { return sample((dy * 3 + dx) * channels + c, 81); }

KERNEL fill(int *a, int n, int h, int w) {
  for (int i = globalThread(); i < n * h * w * channels; i += globalThreads())
    a[i] = sample(i, 80);
}

KERNEL convolve(const __attribute__((grid_constant)) TensorMap map, int *out, int n, int oh, int ow, int step) {
  alignas(128) __shared__ int taps[places][channels];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    mbarrierInit(&full, 1);
    mbarrierInitFence();
  }
  __syncwarp();
  int first = blockIdx.x * places, x = first % ow, y = first / ow % oh, image = first / (ow * oh), sum = 0;
  for (int tap = 0; tap < 9; ++tap) {
    if (threadIdx.x == 0) {
      mbarrierExpect(&full, sizeof(taps));
      tensorLoadPixels(taps, &map, 0, x * step - 1, y * step - 1, image, tap % 3, tap / 3, &full);
    }
    mbarrierWait(&full, tap & 1);
    for (int c = 0; c < channels; ++c)
      sum += taps[threadIdx.x][c] * filterAt(tap / 3, tap % 3, c);
    __syncwarp();
  }
  if (first + (int)threadIdx.x < n * oh * ow)
    out[first + threadIdx.x] = sum;
}

KERNEL check(const int *a, const int *out, int n, int h, int w, int oh, int ow, int step) {
  for (int i = globalThread(); i < n * oh * ow; i += globalThreads()) {
    int x0 = i % ow * step - 1, y0 = i / ow % oh * step - 1, image = i / (ow * oh), sum = 0;
    for (int dy = 0; dy < 3; ++dy)
      for (int dx = 0; dx < 3; ++dx)
        for (int c = 0; c < channels; ++c) {
          int x = x0 + dx, y = y0 + dy;
          if (x >= 0 && x < w && y >= 0 && y < h)
            sum += a[((image * h + y) * w + x) * channels + c] * filterAt(dy, dx, c);
        }
    expect(out[i] == sum);
  }
}
