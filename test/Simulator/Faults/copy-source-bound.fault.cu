// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The last copies read past the end of the source.
// RUN: %launch %s
// EXPECT: bounds

#define FAULT
#include "copy-source-bound.twin.cu"
