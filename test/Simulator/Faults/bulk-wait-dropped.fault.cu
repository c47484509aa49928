// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The wait at the mbarrier is missing.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async or race or uninitialized

#define FAULT
#include "bulk-wait-dropped.twin.cu"
