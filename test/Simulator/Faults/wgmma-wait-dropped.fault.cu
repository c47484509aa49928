// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The accumulator is read while the product is in flight.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async

#define FAULT
#include "wgmma-wait-dropped.twin.cu"
