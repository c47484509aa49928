// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The reader waits for the first word only and reads those that are written after it as well.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "handed-over-neighbour.twin.cu"
