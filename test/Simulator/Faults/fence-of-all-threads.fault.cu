// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// No thread fences between its write and the barrier before the flag.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "fence-of-all-threads.twin.cu"
