// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The mbarrier expects the bytes of one of two copies: its phase may complete early.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: barrier or async or race or uninitialized

#define FAULT
#include "bulk-expects-less.twin.cu"
