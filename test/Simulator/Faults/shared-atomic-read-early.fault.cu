// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The sum is read by a plain load while other warps still add to it.
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "shared-atomic-read-early.twin.cu"
