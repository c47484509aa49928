// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The arrival is relaxed.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "cluster-relaxed.twin.cu"
