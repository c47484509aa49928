// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Targets of GPU tests.

#include "GpuKernel.h"

namespace tilejit::test {

std::vector<TargetSpec> gpuTargets() {
  std::vector<TargetSpec> targets;
  for (const TargetSpec &target : knownTargets())
    if (target.isGpu() && !target.simulated)
      targets.push_back(target);
  return targets;
}

TargetSpec gpuTarget(std::string_view name) {
  Expected<TargetSpec> target = parseTarget(name);
  return target ? *target : TargetSpec();
}

} // namespace tilejit::test
