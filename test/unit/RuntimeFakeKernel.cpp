// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A payload like those of the CPU back end, made by the host's compiler: c = a + b over rank-1 f32 views, 64 elements a
// task, in two phases (the second one doubles what the first wrote where the caller has asked for it with a grid). It
// uses scratch memory and a table of pointers that has to be relocated. An `a` that begins with 666 fails assertion 0.

#include "tilejit/ABI/KernelABI.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using Combine = float (*)(float, float);

float add(float a, float b) { return a + b; }
float twice(float a, float) { return 2 * a; }

Combine combineOf[] = {add, twice}; // Addresses: relative relocations.
constexpr int64_t step = 64;

} // namespace

EXPORTED void tilejit_plan(const int64_t *args, int64_t, const int64_t *grid, tilejit::abi::CpuPlan *plan) {
  int64_t tasks = (args[1] + step - 1) / step;
  plan->phases = grid ? 2 : 1;
  plan->tasks[0] = tasks;
  plan->tasks[1] = tasks;
  plan->sharedScratchBytes = 128;
  plan->threadScratchBytes = 4 * step;
  plan->path = grid ? 1 : 0;
}

EXPORTED int64_t tilejit_run(const int64_t *args, const int64_t *, const tilejit::abi::CpuPlan *, int64_t phase,
                             int64_t begin, int64_t end, void *shared, void *scratch) {
  auto *a = reinterpret_cast<const float *>(args[0]), *b = reinterpret_cast<const float *>(args[3]);
  auto *c = reinterpret_cast<float *>(args[6]);
  auto *buffer = static_cast<volatile float *>(scratch);
  static_cast<volatile char *>(shared)[0] = 1;
  if (args[1] > 0 && a[0] == 666.0f)
    return 1;
  for (int64_t task = begin; task < end; ++task)
    for (int64_t i = task * step; i < (task + 1) * step && i < args[1]; ++i) {
      buffer[i % step] = combineOf[phase](phase == 0 ? a[i] : c[i], b[i]);
      c[i] = buffer[i % step];
    }
  return 0;
}
