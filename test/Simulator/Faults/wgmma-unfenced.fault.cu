// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The proxy fence before the product is missing.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: proxy

#define FAULT
#include "wgmma-unfenced.twin.cu"
