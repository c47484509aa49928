// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The wait lets one group be pending: the one whose accumulator is read.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async

#define FAULT
#include "wgmma-wait-weak.twin.cu"
