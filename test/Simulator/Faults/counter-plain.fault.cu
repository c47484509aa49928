// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Blocks count in global memory by load, add and store.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "counter-plain.twin.cu"
