// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The right operand is loaded as if it lay by columns.
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "ldmatrix-not-transposed.twin.cu"
