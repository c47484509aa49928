// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The clamp of the shuffle is that of the whole warp.
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "shuffle-segment.twin.cu"
