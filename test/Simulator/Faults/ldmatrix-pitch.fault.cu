// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rows of 20 halves, 40 bytes: every other one is not aligned for ldmatrix.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: misaligned

#define FAULT
#include "ldmatrix-pitch.twin.cu"
