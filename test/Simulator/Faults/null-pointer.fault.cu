// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The optional operand is null and is read nevertheless.
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "null-pointer.twin.cu"
