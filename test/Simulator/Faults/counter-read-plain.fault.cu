// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What atomics of other blocks change is read by a plain load.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "counter-read-plain.twin.cu"
