// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The upper half of the wave holds zeros.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: fragment

#define FAULT
#include "wmma-not-duplicated.twin.hip"
