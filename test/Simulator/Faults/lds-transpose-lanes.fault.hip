// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Four lanes in a row name a piece of each of the 4 rows.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "lds-transpose-lanes.twin.hip"
