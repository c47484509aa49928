// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A device-side assertion that one thread violates, through the function that CUDA's assert calls.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90
// LAUNCH: --kernel k --grid 2 --block 64
// EXPECT: assert
// PRINTS: values are small

#include "gpu.h"

extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, unsigned long);

KERNEL k() {
  if (globalThread() == 70)
    __assertfail("values are small", "assert-fires.cu", 17, "k", 1);
}
