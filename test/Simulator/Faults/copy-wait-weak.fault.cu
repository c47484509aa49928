// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The wait lets one group be pending, which is the one that is read.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async

#define FAULT
#include "copy-wait-weak.twin.cu"
