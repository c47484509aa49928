// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The product of row and pitch overflows 32 bits and passes the bound as a negative number.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "index-overflow.twin.cu"
