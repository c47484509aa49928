// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A place is stored to while the copy to it is in flight.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race or async

#define FAULT
#include "copy-over-store.twin.cu"
