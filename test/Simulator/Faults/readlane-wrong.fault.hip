// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The total is read from the lane before the last.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "readlane-wrong.twin.hip"
