// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The block ends while a bulk store may still read its shared memory.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async

#define FAULT
#include "bulk-store-no-wait.twin.cu"
