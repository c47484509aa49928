// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The second group was never committed, so the wait does not cover it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async

#define FAULT
#include "copy-commit-dropped.twin.cu"
