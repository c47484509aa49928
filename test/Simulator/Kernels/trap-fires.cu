// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A trap that one thread of one block executes.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1030 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 2 --block 64 --arg i32:70
// EXPECT: trap

#include "gpu.h"

KERNEL k(int thread) {
  if (static_cast<int>(globalThread()) == thread)
    __builtin_trap();
}
