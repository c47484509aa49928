// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The cluster meets instead: that does not wait for what is on its way.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async

#define FAULT
#include "store-async-wait.twin.cu"
