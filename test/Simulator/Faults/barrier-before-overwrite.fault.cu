// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The barrier after the reads is missing: fast warps overwrite what slow ones have yet to read.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "barrier-before-overwrite.twin.cu"
