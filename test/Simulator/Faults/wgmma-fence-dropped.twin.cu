// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Registers that were written since the last product are fenced before the next one.
// REQUIRES: clang-22, simulator, tilec
// RUN: %launch %s
// TARGETS: sm_90a
// OPT: 2
// LAUNCH: --kernel k --grid 1 --block 128
// EXPECT: clean

#include "wgmma-operands.h"

KERNEL k() {
  WGMMA_OPERANDS(left, right);
  fillOperands(left, right);
  fenceProxyAsync();
  __syncthreads();
  float x = right[threadIdx.x % 8];
  float4 d = {x - x, 0, 0, 0};
  if (!fault)
    wgmmaFence(d);
  wgmmaN8(d, operandDescriptor(left, 128, 256), operandDescriptor(right, 128, 256));
  wgmmaCommit();
  wgmmaWait<0>(d);
  for (int j = 0; j < 4; ++j)
    check(d[j] == sumOf(j));
}
