// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A barrier of the grid waits for one block more than there are.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: deadlock or budget

#define FAULT
#include "grid-barrier-count.twin.cu"
