// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The row begins one float off, so that the vector load is not aligned.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: misaligned

#define FAULT
#include "vector-misaligned.twin.cu"
