// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A flag that one thread reads, then a barrier and a fence of all threads before they read what the flag announces.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90 gfx90a gfx942 gfx1100
// LAUNCH: --kernel clear --grid 1 --block 1 --arg out:%t.f.npy:i32[4]
// LAUNCH: --kernel k --grid 4 --block 96 --arg inout:%t.f.npy --arg out:%t.d.npy:i32[4,96]
// EXPECT: clean

#ifdef FAULT
#define READER_FAULT
#endif
#include "fence-of-all-threads.twin.cu"
