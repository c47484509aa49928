// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The barrier between store and load is missing: warps read what others have yet to write.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "barrier-dropped.twin.cu"
