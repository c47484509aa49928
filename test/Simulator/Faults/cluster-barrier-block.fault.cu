// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Only the threads of each block meet.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "cluster-barrier-block.twin.cu"
