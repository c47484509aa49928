// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The prefix sum takes the values of lanes above.
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "shuffle-wrong-direction.twin.cu"
