// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rows are taken to be consecutive in each half, as on gfx12.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "wmma-result-place.twin.hip"
