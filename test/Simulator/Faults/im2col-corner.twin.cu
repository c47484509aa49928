// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Pixels of an image are loaded in im2col mode for a 3x3 filter without a border: the box of places ends two before the
// last one.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90
// LAUNCH: --kernel fill --grid 1 --block 64 --arg out:%t.a.npy:i32[2,6,7,4]
// LAUNCH: --kernel load --grid 1 --block 64 --arg map[40,4,lower=0x0,upper=-2x-2]:in:%t.a.npy --arg in:%t.a.npy
// EXPECT: clean

#include "gpu.h"

constexpr int channels = 4, height = 6, width = 7, images = 2, places = 40;

struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

KERNEL fill(int *a) {
  for (int i = threadIdx.x; i < images * height * width * channels; i += blockDim.x)
    a[i] = sample(i, 82);
}

KERNEL load(const __attribute__((grid_constant)) TensorMap map, const int *a) {
  alignas(128) __shared__ int taps[places][channels];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    mbarrierInit(&full, 1);
    mbarrierInitFence();
    mbarrierExpect(&full, sizeof(taps));
    tensorLoadPixels(taps, &map, 0, 0, 0, 0, 2, 1, &full);
  }
  __syncthreads();
  mbarrierWait(&full, 0);
  if (threadIdx.x < places) {
    int i = threadIdx.x, x = i % (width - 2) + 2, y = i / (width - 2) % (height - 2) + 1,
        image = i / ((width - 2) * (height - 2));
    for (int c = 0; c < channels; ++c)
      expect(taps[i][c] == a[((image * height + y) * width + x) * channels + c]);
  }
}
