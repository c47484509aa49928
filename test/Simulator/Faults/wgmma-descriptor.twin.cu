// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The descriptor states 128 bytes to the next core matrix in k and 256 to the next rows.
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
  float4 d = {0, 0, 0, 0};
  wgmmaFence(d);
  wgmmaN8(d, operandDescriptor(left, fault ? 256 : 128, fault ? 128 : 256), operandDescriptor(right, 128, 256));
  wgmmaCommit();
  wgmmaWait<0>(d);
  for (int j = 0; j < 4; ++j)
    expect(d[j] == sumOf(j));
}
