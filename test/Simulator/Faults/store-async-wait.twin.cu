// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The blocks of a cluster store into each other's shared memory; the bytes are counted by the mbarrier of the block that
// gets them, which waits for them.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90 sm_90a
// LAUNCH: --kernel exchange --grid 4 --cluster 2 --block 64 --arg out:%t.o.npy:i32[256]
// LAUNCH: --kernel check --grid 4 --block 64 --arg in:%t.o.npy
// EXPECT: clean

#include "gpu.h"

KERNEL exchange(int *out) {
  __shared__ int mailbox[64];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    mbarrierInit(&full, 1);
    mbarrierInitFence();
    mbarrierExpect(&full, sizeof(mailbox));
  }
  clusterSync();
  storeAsyncIn(&mailbox[threadIdx.x], sample(globalThread(), 83), &full, clusterRank() ^ 1);
  if (fault)
    clusterSync();
  else
    mbarrierWait(&full, 0);
  out[globalThread()] = mailbox[threadIdx.x];
  if (fault)
    mbarrierWait(&full, 0);
}

KERNEL check(const int *out) {
  int i = globalThread();
  expect(out[i] == sample(i ^ 64, 83));
}
