// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The barrier after the wait is missing.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race or async

#define FAULT
#include "copy-barrier-dropped.twin.cu"
