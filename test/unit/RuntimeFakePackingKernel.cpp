// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A payload like those that pack a constant operand: phase 0 copies the eight elements of b to the workspace, phase 1
// computes c = a + b from there.

#include "tilejit/ABI/KernelABI.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

static constexpr int64_t count = 8;

EXPORTED void tilejit_plan(const int64_t *, int64_t, const int64_t *, tilejit::abi::CpuPlan *plan) {
  plan->phases = 2;
  plan->tasks[0] = plan->tasks[1] = 1;
  plan->sharedScratchBytes = 4 * count;
  plan->threadScratchBytes = 0;
  plan->path = 0;
}

EXPORTED int64_t tilejit_run(const int64_t *args, const int64_t *, const tilejit::abi::CpuPlan *, int64_t phase,
                             int64_t, int64_t, void *shared, void *) {
  auto *a = reinterpret_cast<const float *>(args[0]), *b = reinterpret_cast<const float *>(args[3]);
  auto *c = reinterpret_cast<float *>(args[6]);
  auto *packed = static_cast<volatile float *>(shared);
  for (int64_t i = 0; i < count; ++i)
    if (phase == 0)
      packed[i] = b[i];
    else
      c[i] = a[i] + packed[i];
  return 0;
}
