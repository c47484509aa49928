// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The bare barrier instruction: without fences the stores may still be on their way.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "barrier-unfenced.twin.hip"
