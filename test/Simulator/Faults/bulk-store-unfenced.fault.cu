// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The proxy fence is missing: the bulk store may read what was there before.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: proxy

#define FAULT
#include "bulk-store-unfenced.twin.cu"
