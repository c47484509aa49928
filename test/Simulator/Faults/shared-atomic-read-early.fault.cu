// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The sum is read by a plain load while other warps still add to it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "shared-atomic-read-early.twin.cu"
