// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Neighbouring lanes write to different rows: a sector for each word.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: sectors

#define FAULT
#include "columns-uncoalesced.twin.cu"
