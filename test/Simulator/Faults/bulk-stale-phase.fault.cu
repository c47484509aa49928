// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The wait for the second copy names the parity of the first phase, which is complete.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async or race or uninitialized

#define FAULT
#include "bulk-stale-phase.twin.cu"
