// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The broadcast of row ends goes to all rows.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "dpp-row-mask.twin.hip"
