// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Shared memory of another block is read through shared::cluster.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90
// LAUNCH: --kernel exchange --grid 4 --cluster 2 --block 64 --arg out:%t.o.npy:i32[256]
// LAUNCH: --kernel check --grid 4 --block 64 --arg in:%t.o.npy
// EXPECT: clean

#include "gpu.h"

/// The 32-bit address of the same place in another block.
__device__ __forceinline uint32_t mapped(const int *own, unsigned rank) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(sharedAddress(own)), "r"(rank));
  return there;
}

__device__ __forceinline int loadFrom(uint32_t address) {
  int value;
  if (fault)
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  else
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

KERNEL exchange(int *out) {
  __shared__ int own[64];
  own[threadIdx.x] = sample(globalThread(), 63);
  clusterSync();
  unsigned other = clusterRank() ^ 1;
  int value = loadFrom(mapped(own + threadIdx.x, other));
  out[globalThread()] = value;
  clusterSync();
}

KERNEL check(const int *out) {
  int i = globalThread();
  expect(out[i] == sample(i ^ 64, 63));
}
