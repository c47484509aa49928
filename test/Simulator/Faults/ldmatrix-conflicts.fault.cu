// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rows of 64 halves, 128 bytes, without a swizzle: all rows of a matrix begin in the same bank.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wavefronts

#define FAULT
#include "ldmatrix-conflicts.twin.cu"
