// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// No fence after the ticket: parts may be read before it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "ticket-no-second-fence.twin.cu"
