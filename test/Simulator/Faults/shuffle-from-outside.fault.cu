// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A shuffle among half a warp reads from a lane of the other half: its value is undefined.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: divergence or uninitialized

#define FAULT
#include "shuffle-from-outside.twin.cu"
