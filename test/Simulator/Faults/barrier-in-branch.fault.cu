// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The barrier stands inside a branch that only some lanes of a warp take.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: divergence or deadlock

#define FAULT
#include "barrier-in-branch.twin.cu"
