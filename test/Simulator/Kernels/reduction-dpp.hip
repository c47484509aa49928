// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sum of a wave of 64 by data-parallel primitives of gfx9: shifts within rows of 16, then broadcasts of row ends; the
// last lane holds the sum.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx906 gfx908 gfx90a gfx942 gfx950
// CASE: n=64
// CASE: n=41
// LAUNCH: --kernel reduce --grid 2 --block 128 --arg i32:{n}

#include "gpu.h"

KERNEL reduce(int n) {
  int lane = threadIdx.x % 64, salt = blockIdx.x * 2 + threadIdx.x / 64;
  int value = lane < n ? sample(lane, salt) : 0;
  value += dpp<dppRowShiftRight + 1>(0, value);
  value += dpp<dppRowShiftRight + 2>(0, value);
  value += dpp<dppRowShiftRight + 4>(0, value);
  value += dpp<dppRowShiftRight + 8>(0, value);
  value += dpp<dppBroadcast15, 0xa>(0, value);
  value += dpp<dppBroadcast31, 0xc>(0, value);
  int total = __builtin_amdgcn_readlane(value, 63), right = 0;
  for (int i = 0; i < n; ++i)
    right += sample(i, salt);
  expect(total == right);
  int prefix = 0;
  for (int i = 0; i <= lane && i < n; ++i)
    prefix += sample(i, salt);
  expect(value == prefix);
}
