// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The barrier after the loads into LDS is missing.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race or async or uninitialized

#define FAULT
#include "lds-load-barrier-dropped.twin.hip"
