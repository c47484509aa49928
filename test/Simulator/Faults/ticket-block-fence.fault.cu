// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The fence between part and ticket reaches the own block only.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "ticket-block-fence.twin.cu"
