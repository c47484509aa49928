// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The broadcast of row ends goes to rows 1 and 3 only.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx906 gfx942
// LAUNCH: --kernel k --grid 1 --block 64
// EXPECT: clean

#include "gpu.h"

KERNEL k() {
  int value = threadIdx.x;
  value += dpp<dppRowShiftRight + 1>(0, value);
  value += dpp<dppRowShiftRight + 2>(0, value);
  value += dpp<dppRowShiftRight + 4>(0, value);
  value += dpp<dppRowShiftRight + 8>(0, value);
  value += dpp<dppBroadcast15, fault ? 0xf : 0xa>(0, value);
  value += dpp<dppBroadcast31, 0xc>(0, value);
  int lane = threadIdx.x;
  expect(value == lane * (lane + 1) / 2);
}
