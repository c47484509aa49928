// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Exchange among the lanes of a warp: segments of shuffles, votes, match, reductions, election by ballot, partial masks
// in divergent code, and a named barrier between two of four warps.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_89 sm_90
// LAUNCH: --kernel lanes --grid 2 --block 128

#include "gpu.h"

KERNEL lanes() {
  __shared__ int slot[128];
  int lane = laneIndex(), thread = threadIdx.x;
  expect(__nvvm_shfl_sync_down_i32(allLanes, lane, 1, 0x181f) == (lane % 8 == 7 ? lane : lane + 1));
  expect(__nvvm_shfl_sync_up_i32(allLanes, lane, 2, 0x1000) == (lane % 16 < 2 ? lane : lane - 2));
  expect(__nvvm_shfl_sync_idx_i32(allLanes, lane, 5, 0x181f) == (lane & 24) + 5);
  expect(__nvvm_shfl_sync_bfly_i32(allLanes, lane, 3, 0x1f) == (lane ^ 3));
  expect(__nvvm_vote_any_sync(allLanes, lane == 9) && !__nvvm_vote_all_sync(allLanes, lane == 9));
  expect(__nvvm_match_any_sync_i32(allLanes, lane % 2) == (lane % 2 ? 0xaaaaaaaau : 0x55555555u));
  expect(__nvvm_redux_sync_add(lane, allLanes) == 496 && __nvvm_redux_sync_umax(lane, allLanes) == 31u);
  if (lane < 12) {
    expect(__nvvm_vote_ballot_sync(0xfff, lane % 3 == 0) == 0x249);
    expect(__nvvm_shfl_sync_bfly_i32(0xfff, lane, 1, 0x1f) == (lane ^ 1));
  }
  slot[thread] = thread * 3;
  __syncwarp();
  expect(slot[thread ^ 31] == (thread ^ 31) * 3);
  __syncthreads();
  if (thread < 64)
    slot[thread] = thread + 1000;
  if (thread < 32)
    namedArrive(1, 64);
  else if (thread < 64) {
    namedBarrier(1, 64);
    expect(slot[thread - 32] == thread - 32 + 1000);
  }
  expect(slot[thread | 64] == (thread | 64) * 3);
}
