// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The barrier of the levels is missing: a level adds what the one before has yet to store.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "barrier-in-tree.twin.cu"
