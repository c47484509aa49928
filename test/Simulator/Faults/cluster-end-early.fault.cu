// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A block may end before the other has read.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "cluster-end-early.twin.cu"
