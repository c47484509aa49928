// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loads swizzle by the row, stores by half the row.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "swizzle-mismatch.twin.cu"
