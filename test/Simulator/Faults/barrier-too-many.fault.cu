// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The barrier waits for 96 threads, but the block has 64.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: deadlock

#define FAULT
#include "barrier-too-many.twin.cu"
