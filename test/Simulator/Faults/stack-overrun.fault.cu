// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The index runs far beyond the array.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: bounds or uninitialized

#define FAULT
#include "stack-overrun.twin.cu"
