// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The vote names four of the eight lanes that execute it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: divergence or deadlock

#define FAULT
#include "vote-mask.twin.cu"
