// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// All blocks write the same places, each something else.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "blocks-same-place.twin.cu"
