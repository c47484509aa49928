// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The next bulk copy into a buffer starts while other warps still read it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race or async

#define FAULT
#include "bulk-over-reads.twin.cu"
