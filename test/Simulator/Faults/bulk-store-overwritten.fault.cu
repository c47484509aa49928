// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The source of a bulk store is stored to while the bulk store may still read it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async or race or proxy

#define FAULT
#include "bulk-store-overwritten.twin.cu"
