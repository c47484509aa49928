// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The wait for the copy is missing.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async

#define FAULT
#include "copy-wait-dropped.twin.cu"
