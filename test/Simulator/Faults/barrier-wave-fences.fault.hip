// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The fences around the barrier reach no further than the wave.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "barrier-wave-fences.twin.hip"
