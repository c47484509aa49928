// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lanes of a warp that meet at different places of the program: a warp barrier, shuffles, votes, a match and a
// reduction in both branches with one mask, which lanes that are scheduled for themselves may do. The barrier orders
// memory, and each lane passes its own operands.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_89 sm_90a
// CASE: block=32
// CASE: block=96
// CASE: block=45
// LAUNCH: --kernel exchange --grid 2 --block 96
// LAUNCH: --kernel order --grid 2 --block {block}

#include "gpu.h"

__device__ __noinline int pass(int value, int by) { return __nvvm_shfl_sync_bfly_i32(allLanes, value, by, 0x1f); }

KERNEL exchange() {
  int lane = laneIndex(), got, sum, same;
  unsigned votes;
  if (lane % 3 == 0) {
    int mine = lane * 7;
    got = __nvvm_shfl_sync_bfly_i32(allLanes, mine, 1, 0x1f);
    votes = __nvvm_vote_ballot_sync(allLanes, lane < 8);
    sum = __nvvm_redux_sync_add(lane, allLanes);
    same = __nvvm_match_any_sync_i32(allLanes, lane % 4);
  } else if (lane % 3 == 1) {
    int other = lane * 9 + 1;
    got = __nvvm_shfl_sync_bfly_i32(allLanes, other, 1, 0x1f);
    votes = __nvvm_vote_ballot_sync(allLanes, lane < 9);
    sum = __nvvm_redux_sync_add(2 * lane, allLanes);
    same = __nvvm_match_any_sync_i32(allLanes, lane % 4);
  } else {
    got = pass(lane, 1);
    votes = __nvvm_vote_ballot_sync(allLanes, lane == 2);
    sum = __nvvm_redux_sync_add(1, allLanes);
    same = __nvvm_match_any_sync_i32(allLanes, lane % 4);
  }
  int from = lane ^ 1, total = 0;
  unsigned yes = 0;
  for (int l = 0; l < 32; ++l) {
    total += l % 3 == 0 ? l : l % 3 == 1 ? 2 * l : 1;
    yes |= unsigned(l % 3 == 0 ? l < 8 : l % 3 == 1 ? l < 9 : l == 2) << l;
  }
  expect(got == (from % 3 == 0 ? from * 7 : from % 3 == 1 ? from * 9 + 1 : from));
  expect(votes == yes && sum == total && unsigned(same) == 0x11111111u << lane % 4);
}

KERNEL order() {
  __shared__ int slot[96];
  int lane = laneIndex(), first = threadIdx.x - lane, last = blockDim.x - 1;
  int other = first + (lane ^ 1) > last ? threadIdx.x : first + (lane ^ 1), got;
  if (lane & 1) {
    slot[threadIdx.x] = lane * 3;
    __syncwarp();
    got = slot[other];
    __syncwarp();
    slot[other] = got + 1;
  } else {
    slot[threadIdx.x] = lane * 5;
    __syncwarp();
    got = slot[other];
    __syncwarp();
    slot[other] = got + 1;
  }
  __syncwarp();
  expect(slot[threadIdx.x] == (lane & 1 ? lane * 3 : lane * 5) + 1);
}
