// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A bulk copy reads 16 bytes past the end of its source.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "bulk-bound.twin.cu"
