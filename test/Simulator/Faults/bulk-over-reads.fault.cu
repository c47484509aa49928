// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The next bulk copy into a buffer starts while other warps still read it.
// RUN: %launch %s
// EXPECT: race or async

#define FAULT
#include "bulk-over-reads.twin.cu"
