// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A flag that one thread reads, then a barrier, and reads of what the flag announces without a fence.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "fence-of-all-readers.twin.cu"
