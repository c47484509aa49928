// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The places of each pair are exchanged.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "swmmac-index.twin.hip"
