// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The arrival at the barrier of the cluster releases what the block wrote.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90
// LAUNCH: --kernel exchange --grid 4 --cluster 2 --block 64 --arg out:%t.o.npy:i32[256]
// LAUNCH: --kernel check --grid 4 --block 64 --arg in:%t.o.npy
// EXPECT: clean

#include "gpu.h"

KERNEL exchange(int *out) {
  __shared__ int own[64];
  own[threadIdx.x] = sample(globalThread(), 63);
  if (fault)
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  else
    clusterArrive();
  clusterWait();
  unsigned other = clusterRank() ^ 1;
  int value = inBlock(own, other)[threadIdx.x];
  out[globalThread()] = value;
  clusterSync();
}

KERNEL check(const int *out) {
  int i = globalThread();
  expect(out[i] == sample(i ^ 64, 63));
}
