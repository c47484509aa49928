// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The mbarrier counts one arrival more than there are threads.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: deadlock

#define FAULT
#include "mbarrier-count.twin.cu"
