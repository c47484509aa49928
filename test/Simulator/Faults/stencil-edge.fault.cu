// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The first element has no left neighbour, but it is read.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "stencil-edge.twin.cu"
