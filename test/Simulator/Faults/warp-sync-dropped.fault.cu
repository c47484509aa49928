// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The warp barrier is missing: since sm_70 lanes of a warp need not run together.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "warp-sync-dropped.twin.cu"
