// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Each block tells itself twice: the other one may load over what it still reads.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async or race

#define FAULT
#include "multicast-empty-own.twin.cu"
