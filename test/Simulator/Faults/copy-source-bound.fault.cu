// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The last copies read past the end of the source.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "copy-source-bound.twin.cu"
