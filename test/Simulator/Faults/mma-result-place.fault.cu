// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The result is taken for rows g and g + 1.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "mma-result-place.twin.cu"
