// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The source of a bulk copy begins 8 bytes off.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: misaligned

#define FAULT
#include "bulk-misaligned.twin.cu"
