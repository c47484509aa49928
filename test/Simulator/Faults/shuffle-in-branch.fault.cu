// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A shuffle in a branch names all lanes, of which half never come.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: divergence or deadlock

#define FAULT
#include "shuffle-in-branch.twin.cu"
