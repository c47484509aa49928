// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The two distances in the descriptor of the left operand are swapped.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers or uninitialized or bounds

#define FAULT
#include "wgmma-descriptor.twin.cu"
