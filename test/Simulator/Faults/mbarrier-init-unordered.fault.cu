// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Other warps use the mbarrier without a barrier after its initialisation.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race or barrier or uninitialized

#define FAULT
#include "mbarrier-init-unordered.twin.cu"
