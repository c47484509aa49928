// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A block reads the border of its neighbour, written in the same launch.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "halo-of-neighbour.twin.cu"
