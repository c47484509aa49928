// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The last shuffle, by one lane, is missing: the sum holds every other lane.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "shuffle-too-short.twin.cu"
