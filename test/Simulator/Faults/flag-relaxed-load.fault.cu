// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The flag is polled relaxed: data may be read before it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race or uninitialized

#define FAULT
#include "flag-relaxed-load.twin.cu"
