// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Threads count in shared memory by load, add and store: counts get lost.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "shared-counter-plain.twin.cu"
