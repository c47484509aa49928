// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a branch writes after the warp barrier is read by the other one, which met it there but waits for no more.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race or uninitialized

#define FAULT
#include "warp-sync-apart-written.twin.cu"
