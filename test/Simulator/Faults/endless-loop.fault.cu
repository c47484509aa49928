// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A walk through numbers that waits for zero, which never comes.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: budget

#define FAULT
#include "endless-loop.twin.cu"
