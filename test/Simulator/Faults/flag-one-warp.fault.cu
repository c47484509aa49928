// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The other threads look at the flag themselves, in relaxed order, instead of waiting for the one that acquired it.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// EXPECT: race

#define FAULT
#include "flag-one-warp.twin.cu"
