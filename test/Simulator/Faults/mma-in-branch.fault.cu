// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Half of the warp executes a matrix product that needs all of it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: divergence or deadlock

#define FAULT
#include "mma-in-branch.twin.cu"
