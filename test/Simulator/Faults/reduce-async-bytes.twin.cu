// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// All threads of a cluster add to sums in block 0, whose mbarrier counts the bytes of all.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90 sm_90a
// LAUNCH: --kernel add --grid 4 --cluster 4 --block 64
// EXPECT: clean

#include "gpu.h"

KERNEL add() {
  __shared__ int sums[8];
  __shared__ uint64_t full;
  if (threadIdx.x < 8)
    sums[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    mbarrierInit(&full, 1);
    mbarrierInitFence();
    if (clusterRank() == 0)
      mbarrierExpect(&full, (fault ? 1 : 4) * 64 * 4);
  }
  clusterSync();
  addAsyncIn(&sums[threadIdx.x % 8], sample(globalThread(), 84), &full, 0);
  if (clusterRank() == 0) {
    mbarrierWait(&full, 0);
    if (threadIdx.x < 8) {
      int sum = 0;
      for (int i = threadIdx.x; i < 256; i += 8)
        sum += sample(i, 84);
      expect(sums[threadIdx.x] == sum);
    }
  }
}
