// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Accesses of every width from one byte to sixteen, with matching alignment, signed and unsigned, to global and to
// shared memory: the same bytes seen through different types.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1030 gfx1100 gfx1201
// CASE: n=16
// CASE: n=2000
// LAUNCH: --kernel fill --grid 2 --block 64 --arg out:%t.a.npy:u8[{n}] --arg i32:{n}
// LAUNCH: --kernel copy --grid 1 --block 128 --arg in:%t.a.npy --arg out:%t.b.npy:u8[{n}] --arg i32:{n}
// LAUNCH: --kernel check --grid 1 --block 64 --arg in:%t.b.npy --arg i32:{n}

#include "gpu.h"

KERNEL fill(uint8_t *a, int n) {
  for (int i = globalThread(); i < n; i += globalThreads())
    a[i] = sample(i, 31) * 16 + sample(i, 32);
}

template <class T> __device__ void through(uint8_t *shared, const uint8_t *a, int from, int bytes) {
  for (int i = threadIdx.x; i < bytes / static_cast<int>(sizeof(T)); i += blockDim.x)
    reinterpret_cast<T *>(shared + from)[i] = reinterpret_cast<const T *>(a + from)[i];
}

KERNEL copy(const uint8_t *a, uint8_t *b, int n) {
  __shared__ __attribute__((aligned(16))) uint8_t bytes[2048];
  int whole = n / 16 * 16, part = whole / 5 / 16 * 16;
  through<uint4>(bytes, a, 0, part);
  through<uint64_t>(bytes, a, part, part);
  through<float2>(bytes, a, 2 * part, part);
  through<uint32_t>(bytes, a, 3 * part, part);
  through<short>(bytes, a, 4 * part, whole - 4 * part);
  through<uint8_t>(bytes, a, whole, n - whole);
  __syncthreads();
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int value = reinterpret_cast<int8_t *>(bytes)[i];
    sum += value < 0;
    b[i] = static_cast<uint8_t>(value);
  }
  expect(sum <= n / static_cast<int>(blockDim.x) + 1);
}

KERNEL check(const uint8_t *b, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    expect(b[i] == static_cast<uint8_t>(sample(i, 31) * 16 + sample(i, 32)));
}
