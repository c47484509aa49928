// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The mbarrier completes after the arrivals of half the threads: the stores of the others are not ordered.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race or async

#define FAULT
#include "mbarrier-too-few.twin.cu"
