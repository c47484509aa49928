// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The next copy starts while other warps still read the buffer.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race or async

#define FAULT
#include "copy-over-reads.twin.cu"
