// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The last places of the array are read without a value. (AMD's optimised code has the array in registers, and zeros
// for what is undefined.)
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// EXPECT: uninitialized

#define FAULT
#include "stack-uninitialized.twin.cu"
