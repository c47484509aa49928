// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The destination of the copies is 8 bytes off.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: misaligned

#define FAULT
#include "copy-misaligned.twin.cu"
