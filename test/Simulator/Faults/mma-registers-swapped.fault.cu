// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The second and the third register of the left operand are swapped.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "mma-registers-swapped.twin.cu"
