// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The address of the other block's memory is used as one of the own block's (ld.shared).
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "cluster-own-space.twin.cu"
