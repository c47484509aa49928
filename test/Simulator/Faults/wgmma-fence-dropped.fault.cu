// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The fence between writing the accumulator and the product is missing.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async

#define FAULT
#include "wgmma-fence-dropped.twin.cu"
