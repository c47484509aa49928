// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Only the bytes of its own threads are announced.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async or barrier

#define FAULT
#include "reduce-async-bytes.twin.cu"
