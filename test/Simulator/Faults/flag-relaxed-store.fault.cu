// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The flag is stored relaxed: it may arrive before the data.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race or uninitialized

#define FAULT
#include "flag-relaxed-store.twin.cu"
