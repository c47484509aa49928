// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The prefix sum takes the values of lanes above.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "shuffle-wrong-direction.twin.cu"
