// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The mbarrier counts one arrival more than there are threads.
// RUN: %launch %s
// EXPECT: deadlock

#define FAULT
#include "mbarrier-count.twin.cu"
