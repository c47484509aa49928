// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The mbarrier was never initialised.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: barrier or uninitialized

#define FAULT
#include "mbarrier-not-initialized.twin.cu"
