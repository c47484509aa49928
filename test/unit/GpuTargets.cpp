// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Targets of GPU tests.

#include "GpuKernel.h"

namespace tilejit::test {

namespace {

TargetSpec makeTarget(const char *name, int generation, int lanes = 32) {
  TargetSpec target;
  target.kind = std::string_view(name).starts_with("sm_") ? TargetKind::Nvidia : TargetKind::Amd;
  target.name = target.cpu = name;
  target.triple = target.kind == TargetKind::Nvidia ? "nvptx64-nvidia-cuda" : "amdgcn-amd-amdhsa";
  target.gpuFacts.generation = generation;
  target.gpuFacts.warpLanes = lanes;
  return target;
}

} // namespace

std::vector<TargetSpec> gpuTargets() {
  return {makeTarget("sm_75", 75),         makeTarget("sm_80", 80),
          makeTarget("sm_86", 86),         makeTarget("sm_87", 87),
          makeTarget("sm_89", 89),         makeTarget("sm_90", 90),
          makeTarget("sm_90a", 90),        makeTarget("sm_100a", 100),
          makeTarget("sm_103a", 103),      makeTarget("sm_110a", 110),
          makeTarget("sm_120a", 120),      makeTarget("sm_121a", 121),
          makeTarget("gfx900", 0x900, 64), makeTarget("gfx906", 0x906, 64),
          makeTarget("gfx908", 0x908, 64), makeTarget("gfx90a", 0x90a, 64),
          makeTarget("gfx942", 0x942, 64), makeTarget("gfx950", 0x950, 64),
          makeTarget("gfx1010", 0x1010),   makeTarget("gfx1030", 0x1030),
          makeTarget("gfx1100", 0x1100),   makeTarget("gfx1101", 0x1101),
          makeTarget("gfx1151", 0x1151),   makeTarget("gfx1200", 0x1200),
          makeTarget("gfx1201", 0x1201),   makeTarget("gfx9-generic", 0x900, 64)};
}

TargetSpec gpuTarget(std::string_view name) {
  for (TargetSpec &target : gpuTargets())
    if (target.name == name)
      return target;
  return {};
}

} // namespace tilejit::test
