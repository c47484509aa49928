// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The optional operand is null and is read nevertheless.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "null-pointer.twin.cu"
