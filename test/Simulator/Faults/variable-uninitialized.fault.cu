// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A lane that takes the other path uses a variable without a value. (The optimiser would make up one.)
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: uninitialized

#define FAULT
#include "variable-uninitialized.twin.cu"
