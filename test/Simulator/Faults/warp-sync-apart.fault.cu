// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The warp barriers of two branches name different lanes: the lanes of one go on before those of the other have come.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: divergence or race

#define FAULT
#include "warp-sync-apart.twin.cu"
