// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rows of the result are taken to be consecutive.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "mfma-result-place.twin.hip"
