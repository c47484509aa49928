// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tensor maps that the host made: one by value, one by address, both of 2 dimensions with a swizzle, and one of 3
// dimensions that fills with NaN beyond the edges. Boxes are loaded, checked and stored through maps.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90 sm_90a
// CASE: m=16 n=32 gx=1 gy=1 d=1
// CASE: m=19 n=44 gx=2 gy=2 d=3
// LAUNCH: --kernel fill --grid 4 --block 128 --arg out:%t.a.npy:i32[{m},{n}] --arg out:%t.f.npy:f32[{d},{m},{n}] --arg i32:{m} --arg i32:{n} --arg i32:{d}
// LAUNCH: --kernel copy --grid {gx},{gy} --block 32 --arg map[16,32,swizzle=128]:in:%t.a.npy --arg map[16,16,swizzle=64]:out:%t.b.npy:i32[{m},{n}] --arg arg:1 --arg i32:{m} --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 128 --arg in:%t.b.npy --arg i32:{m} --arg i32:{n}
// LAUNCH: --kernel volume --grid {gx},{gy},{d} --block 32 --arg map[2,4,32,fill=nan]:arg:2 --arg in:%t.f.npy --arg i32:{m} --arg i32:{n} --arg i32:{d}

#include "gpu.h"

struct alignas(64) TensorMap {
  uint64_t opaque[16];
};
#define GIVEN_MAP const __attribute__((grid_constant)) TensorMap

KERNEL fill(int *a, float *f, int m, int n, int d) {
  for (int i = globalThread(); i < m * n; i += globalThreads())
    a[i] = sample(i, 27);
  for (int i = globalThread(); i < d * m * n; i += globalThreads())
    f[i] = sample(i, 28);
}

/// One lane loads a box; all lanes wait for it.
template <class Load> __device__ void loadBox(uint64_t *full, unsigned bytes, Load load) {
  if (threadIdx.x == 0) {
    mbarrierInit(full, 1);
    mbarrierInitFence();
    mbarrierExpect(full, bytes);
    load();
  }
  __syncwarp();
  mbarrierWait(full, 0);
}

KERNEL copy(GIVEN_MAP from, const TensorMap *to, const int *plain, int m, int n) {
  __shared__ __attribute__((aligned(1024))) int box[16][32], halves[2][16][16];
  __shared__ uint64_t full;
  int x = blockIdx.x * 32, y = blockIdx.y * 16, lane = threadIdx.x;
  loadBox(&full, sizeof(box), [&] { tensorLoad2d(box, &from, x, y, &full); });
  for (int row = 0; row < 16; ++row) {
    int value = box[row][((lane / 4) ^ (row % 8)) * 4 + lane % 4];
    bool inside = y + row < m && x + lane < n;
    expect(value == (inside ? plain[(y + row) * n + x + lane] : 0));
    halves[lane / 16][row][((lane % 16 / 4) ^ (row / 2 % 4)) * 4 + lane % 4] = value + 1;
  }
  fenceProxyAsync();
  __syncwarp();
  if (lane == 0) {
    tensorStore2d(to, halves[0], x, y);
    tensorStore2d(to, halves[1], x + 16, y);
    bulkCommit();
    bulkWait();
  }
}

KERNEL check(const int *b, int m, int n) {
  for (int i = threadIdx.x; i < m * n; i += blockDim.x)
    expect(b[i] == sample(i, 27) + 1);
}

KERNEL volume(GIVEN_MAP map, const float *f, int m, int n, int d) {
  __shared__ __attribute__((aligned(128))) float box[2][4][32];
  __shared__ uint64_t full;
  int x = blockIdx.x * 32, y = blockIdx.y * 16, z = blockIdx.z, lane = threadIdx.x;
  loadBox(&full, sizeof(box), [&] {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
                 "%4}], [%5];" ::"r"(sharedAddress(box)),
                 "l"(&map), "r"(x), "r"(y), "r"(z), "r"(sharedAddress(&full))
                 : "memory");
  });
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      float value = box[i][j][lane];
      if (z + i < d && y + j < m && x + lane < n)
        expect(value == f[((z + i) * m + y + j) * n + x + lane]);
      else
        expect(value != value);
    }
}
