// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The bound lets one element too many through.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "bound-off-by-one.twin.cu"
