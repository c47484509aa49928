// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lanes execute a warp barrier whose mask leaves them out.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: divergence or deadlock

#define FAULT
#include "warp-sync-mask.twin.cu"
