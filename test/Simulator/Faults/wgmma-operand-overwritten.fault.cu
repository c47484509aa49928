// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// An operand is stored to while the product may still read it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: async or race or proxy

#define FAULT
#include "wgmma-operand-overwritten.twin.cu"
