// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A vote in a branch of eight lanes.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_80 sm_90a
// LAUNCH: --kernel k --grid 1 --block 32
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int lane = threadIdx.x;
  if (lane >= 8)
    return;
  expect(__nvvm_vote_ballot_sync(fault ? 0xf : 0xff, lane & 1) == 0xaa);
}
