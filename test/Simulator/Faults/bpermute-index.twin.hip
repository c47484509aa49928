// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// ds_bpermute takes four times the lane.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int lane = laneIndex(), from = lane ^ 5;
  expect(__builtin_amdgcn_ds_bpermute(fault ? from : from * 4, lane * 3) == from * 3);
}
