// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// ds_bpermute is given the lane itself.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "bpermute-index.twin.hip"
