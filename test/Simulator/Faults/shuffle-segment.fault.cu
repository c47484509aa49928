// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The clamp of the shuffle is that of the whole warp.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "shuffle-segment.twin.cu"
