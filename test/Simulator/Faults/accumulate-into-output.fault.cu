// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The output is added to, but nobody wrote it before.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: uninitialized

#define FAULT
#include "accumulate-into-output.twin.cu"
