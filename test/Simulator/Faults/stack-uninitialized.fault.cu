// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The last places of the array are read without a value.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: uninitialized

#define FAULT
#include "stack-uninitialized.twin.cu"
