// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// An assertion about every thread that holds.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90a
// LAUNCH: --kernel k --grid 2 --block 64 --arg i32:128
// EXPECT: clean

#include "gpu.h"

extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, unsigned long);

KERNEL k(int n) {
  if (static_cast<int>(globalThread()) >= n - (fault ? 1 : 0))
    __assertfail("thread < n", "assertion-violated.cu", 1, "k", 1);
}
