// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Each block writes places of its own.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a gfx906 gfx942 gfx1100 gfx1201
// LAUNCH: --kernel k --grid 4 --block 64 --arg out:%t.a.npy:i32[256]
// EXPECT: clean

#include "gpu.h"

KERNEL k(int *a) { a[fault ? threadIdx.x : globalThread()] = globalThread(); }
