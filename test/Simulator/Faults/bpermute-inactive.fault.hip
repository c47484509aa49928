// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lanes read from others that do not take part.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers or uninitialized or divergence

#define FAULT
#include "bpermute-inactive.twin.hip"
