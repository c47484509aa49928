// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Without a padding column all elements of a column lie in one bank.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wavefronts

#define FAULT
#include "transpose-unpadded.twin.cu"
