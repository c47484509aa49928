// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Places of the tile beyond the data were never written, but are added.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: uninitialized

#define FAULT
#include "shared-partly-filled.twin.cu"
