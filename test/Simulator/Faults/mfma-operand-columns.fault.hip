// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The columns are taken from l / 16, four apart.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: wrong numbers

#define FAULT
#include "mfma-operand-columns.twin.hip"
