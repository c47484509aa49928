// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// An operand in shared memory is stored to after the product is done.
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
  wgmmaN8(d, operandDescriptor(left, 128, 256), operandDescriptor(right, 128, 256));
  wgmmaCommit();
  if (!fault) {
    wgmmaWait<0>(d);
    __syncthreads();
  }
  left[threadIdx.x] = half(0);
  wgmmaWait<0>(d);
  for (int j = 0; j < 4; ++j)
    check(d[j] == sumOf(j));
}
