// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The second warp waits at another barrier than the first arrives at.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: deadlock or race

#define FAULT
#include "barrier-other-number.twin.cu"
