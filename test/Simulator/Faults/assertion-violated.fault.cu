// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The assertion leaves out the last thread.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: assert

#define FAULT
#include "assertion-violated.twin.cu"
