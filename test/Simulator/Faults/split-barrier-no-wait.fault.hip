// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The wait comes after the read.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "split-barrier-no-wait.twin.hip"
