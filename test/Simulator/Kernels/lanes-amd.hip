// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Exchange among the lanes of a wave on every generation: permutes forward and backward through LDS hardware, swizzles,
// read lanes, ballots in divergent code, mirrored and rotated rows.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201
// LAUNCH: --kernel lanes --grid 1 --block 64

#include "gpu.h"

KERNEL lanes() {
  int lane = laneIndex(), last = warpWidth - 1;
  expect(lane == static_cast<int>(threadIdx.x % warpWidth));
  expect(__builtin_amdgcn_ds_bpermute((last - lane) * 4, lane) == last - lane);
  expect(__builtin_amdgcn_ds_permute((last - lane) * 4, lane) == last - lane);
  expect(__builtin_amdgcn_ds_permute((lane | 1) * 4, lane * 3) == (lane & 1 ? lane * 3 : 0));
  expect(__builtin_amdgcn_ds_swizzle(lane, 0x041f) == (lane ^ 1));
  expect(__builtin_amdgcn_ds_swizzle(lane, 0x7c1f) == (lane ^ 31));
  expect(__builtin_amdgcn_ds_swizzle(lane, 0x0018) == (lane & ~7));
  expect(__builtin_amdgcn_ds_swizzle(lane, 0x801b) == (lane ^ 3));
  expect(__builtin_amdgcn_readlane(lane * 2, 17) == 34);
  expect(__builtin_amdgcn_readfirstlane(lane + 5) == 5);
  expect(dpp<dppRowMirror>(-1, lane) == (lane ^ 15));
  expect(dpp<dppRowHalfMirror>(-1, lane) == (lane ^ 7));
  expect(dpp<dppRowRotateRight + 3>(-1, lane) == ((lane & ~15) | ((lane + 13) & 15)));
  expect(dpp<dppRowShiftRight + 1>(-1, lane) == (lane % 16 ? lane - 1 : -1));
  expect(dpp<0x1b>(-1, lane) == (lane ^ 3));
  expect(dpp<0x1b, 0x1>(-1, lane) == (lane < 16 ? lane ^ 3 : -1));
  if (lane % 4 == 1) {
    expect(__builtin_amdgcn_readfirstlane(lane) == 1);
    expect((ballot(lane < 8) & 0xff) == 0x22);
  }
#ifndef __GFX9__
  expect(__builtin_amdgcn_permlanex16(lane, lane, 0x76543210, 0xfedcba98, false, false) == (lane ^ 16));
  expect(__builtin_amdgcn_permlane16(lane, lane, 0x89abcdef, 0x01234567, false, false) == (lane ^ 15));
#endif
}
