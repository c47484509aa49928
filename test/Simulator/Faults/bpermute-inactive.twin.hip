// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// All lanes that are read from take part in the exchange.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 1 --block 64
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int lane = laneIndex();
  if (!fault || lane < 8)
    expect(__builtin_amdgcn_ds_bpermute((lane ^ 8) * 4, lane + 100) == (lane ^ 8) + 100);
}
