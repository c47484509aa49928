// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The right operand is loaded as if it lay by columns.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "ldmatrix-not-transposed.twin.cu"
