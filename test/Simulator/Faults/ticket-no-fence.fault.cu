// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// No fence between the part and the ticket: the last block may see the ticket, but not the part.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "ticket-no-fence.twin.cu"
