// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sizes that are no multiple of the block were forgotten.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "bound-missing.twin.cu"
