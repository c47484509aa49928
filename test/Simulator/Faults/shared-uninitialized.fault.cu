// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Shared memory is not zero at the start: the bins were never cleared.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: uninitialized

#define FAULT
#include "shared-uninitialized.twin.cu"
