// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Device-side printf with integers, floats, strings, characters, 64-bit values and pointers to text; in order of
// blocks.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_75 sm_80 sm_90
// LAUNCH: --kernel print --grid 2 --block 32
// PRINTS: block 0 lane 3 of 32: 1.500000 text a -5000000000 ff
// PRINTS: block 1 lane 3 of 32: 1.500000 text b -5000000000 ff
// PRINTS: 100%

#include "gpu.h"

extern "C" __device__ int printf(const char *, ...);

KERNEL print() {
  if (threadIdx.x == 3)
    printf("block %d lane %u of %d: %f %s %c %lld %x\n", blockIdx.x, threadIdx.x, 32, 1.5f, "text", 'a' + blockIdx.x,
           -5000000000ll, 255u);
  if (globalThread() == 63)
    printf("%d%%\n", 100);
}
