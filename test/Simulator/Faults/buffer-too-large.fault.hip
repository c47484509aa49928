// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The resource counts more bytes than the memory has.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "buffer-too-large.twin.hip"
