// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The mbarrier expects more bytes than the copy brings: the phase never completes.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: deadlock

#define FAULT
#include "bulk-expects-more.twin.cu"
