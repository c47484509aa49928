// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The left operand has columns 0 to 7 in the lower half and 8 to 15 in the upper.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "wmma-operand-columns.twin.hip"
