// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The release reaches no further than the work-group.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race or uninitialized

#define FAULT
#include "flag-scope.twin.hip"
