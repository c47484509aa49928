// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The last thread writes one element past the end of dynamic shared memory.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "shared-overrun.twin.cu"
