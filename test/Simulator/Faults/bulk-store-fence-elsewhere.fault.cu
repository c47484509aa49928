// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Only the thread that starts the bulk store fences, and does so before it has seen the others' stores.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: proxy

#define FAULT
#include "bulk-store-fence-elsewhere.twin.cu"
