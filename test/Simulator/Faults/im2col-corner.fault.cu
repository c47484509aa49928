// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The corners of the map are those of a filter with a border.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// LAUNCH: --kernel fill --grid 1 --block 64 --arg out:%t.a.npy:i32[2,6,7,4]
// LAUNCH: --kernel load --grid 1 --block 64 --arg map[40,4,lower=0x0,upper=0x0]:in:%t.a.npy --arg in:%t.a.npy
// EXPECT: wrong numbers

#define FAULT
#include "im2col-corner.twin.cu"
