// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rule, by kind of chip, on the rows of data.

#include "tilejit/Target/CodeFit.h"

#include "CpuRows.h"
#include "GpuRows.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace tilejit {

using namespace target;

namespace {

std::optional<FeatureSet> featuresOf(const TargetSpec &spec) {
  const CpuRow *row = findCpu(spec.cpuFacts.arch, spec.cpu);
  return row ? applyFeatures(spec.cpuFacts.arch, row->features, spec.features) : std::nullopt;
}

int cpuFit(const TargetSpec &code, const TargetSpec &device) {
  if (code.cpuFacts.arch != device.cpuFacts.arch)
    return 0;
  std::optional<FeatureSet> needed = featuresOf(code), there = featuresOf(device);
  return needed && there && contains(*there, *needed) ? 1 + std::popcount(*needed) : 0;
}

int nvidiaFit(const GpuRow &code, const GpuRow &device) {
  return !code.isSpecific() && code.facts.generation <= device.facts.generation ? code.facts.generation : 0;
}

int amdFit(const GpuRow &code, const GpuRow &device, const TargetSpec &from, const TargetSpec &onto) {
  // A setting that the code leaves open fits both ways.
  if (!std::includes(onto.features.begin(), onto.features.end(), from.features.begin(), from.features.end()))
    return 0;
  return code.name == device.name ? 2 : code.name == device.generic ? 1 : 0;
}

} // namespace

int codeFit(const TargetSpec &code, const TargetSpec &device) {
  if (code.kind != device.kind)
    return 0;
  if (code.keyText() == device.keyText())
    return exactFit;
  if (code.isCpu())
    return cpuFit(code, device);
  const GpuRow *from = findGpu(code.cpu), *onto = findGpu(device.cpu);
  if (!from || !onto)
    return 0;
  return code.kind == TargetKind::Nvidia ? nvidiaFit(*from, *onto) : amdFit(*from, *onto, code, device);
}

Expected<TargetSpec> targetOfKey(std::string_view keyText) { return decodeTarget(lineOfKey(keyText)); }

} // namespace tilejit
