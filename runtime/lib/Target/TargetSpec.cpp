// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Names to targets, this machine as a target, and whether a target's code runs here.

#include "tilejit/Target/TargetSpec.h"

#include "GpuRows.h"
#include "HostCpu.h"

#include "tilejit/Base/Text.h"

#include <algorithm>

namespace tilejit {

using namespace target;

namespace {

/// The features that code for a target may use.
Expected<FeatureSet> neededFeatures(const TargetSpec &spec) {
  const CpuRow *row = findCpu(spec.cpuFacts.arch, spec.cpu);
  if (!row)
    return Status(StatusCode::InvalidArgument, "unknown CPU '" + shorten(spec.cpu) + "' in target " + spec.name);
  auto set = applyFeatures(spec.cpuFacts.arch, row->features, spec.features);
  if (!set)
    return Status(StatusCode::InvalidArgument, "malformed feature list in target " + spec.name);
  return *set;
}

std::string_view archName(CpuArch arch) {
  std::string_view triple = tripleOf(arch);
  return triple.substr(0, triple.find('-'));
}

constexpr std::string_view simulatorPrefix = "sim:";

Status unknownTarget(std::string_view text) {
  std::vector<std::string_view> names = {"cpu", "native"};
  for (const CpuRow &row : cpuRows())
    names.push_back(row.name);
  for (const GpuRow &row : gpuRows())
    names.push_back(row.name);
  Status status(StatusCode::InvalidArgument, "unknown target '" + shorten(text, 60) + "'");
  std::string_view near = nearestName(text, names);
  if (!near.empty())
    return std::move(status).withHint("did you mean '" + std::string(near) + "'?");
  return std::move(status).withHint("`tilec targets` lists the targets: native, x86-64-v3, sm_90a, gfx942, ...");
}

/// A GPU with the settings of LLVM's spelling, a CPU's name, or neither.
Expected<TargetSpec> parseChip(std::string_view text) {
  if (const CpuRow *row = findRow(text))
    return specOf(*row);
  size_t colon = std::min(text.find(':'), text.size());
  if (const GpuRow *row = findGpu(text.substr(0, colon)); row && colon + 1 != text.size())
    return specOf(*row, text.substr(std::min(colon + 1, text.size())));
  return unknownTarget(text);
}

/// `sim:NAME`: the target NAME, run on the simulator.
Expected<TargetSpec> parseSimulated(std::string_view text) {
  text.remove_prefix(simulatorPrefix.size());
  TILEJIT_ASSIGN_OR_RETURN(TargetSpec spec, parseChip(text));
  const GpuRow *row = spec.isGpu() ? findGpu(spec.cpu) : nullptr;
  if (!row || !row->simulated) {
    std::string known;
    for (const GpuRow &each : gpuRows())
      if (each.simulated)
        (known += known.empty() ? "" : ", ").append(each.name);
    return Status(StatusCode::InvalidArgument,
                  "the simulator does not know '" + shorten(text, 60) + "', only " + known);
  }
  spec.simulated = true;
  spec.name.insert(0, simulatorPrefix);
  spec.description += ", simulated";
  return spec;
}

} // namespace

Expected<TargetSpec> parseTarget(std::string_view text) {
  if (text == "native" || text == "cpu")
    return hostTarget();
  if (text.starts_with(simulatorPrefix))
    return parseSimulated(text);
  return parseChip(text);
}

TargetSpec hostTarget() {
  HostCpu host = detectHostCpu();
  TargetSpec spec = specOf(*host.row);
  spec.name = "native";
  FeatureSet base = host.row->features;
  for (std::string &change : featureChanges(host.arch, base, host.features))
    spec.features.push_back(std::move(change));
  std::sort(spec.features.begin(), spec.features.end());
  setFeatureFacts(spec.cpuFacts, host.features);
  spec.cpuFacts.ports = portsOf(*host.row, spec.cpuFacts.vectorBits);
  CacheSizes caches = hostCaches(realSystem());
  if (caches[0] > 0)
    spec.cpuFacts.l1Bytes = caches[0];
  if (caches[1] > 0)
    spec.cpuFacts.l2Bytes = caches[1];
  if (caches[0] > 0)
    spec.cpuFacts.l3Bytes = caches[2];
  spec.description = "this machine: " + std::string(host.row->about) + ", vectors of " +
                     std::to_string(spec.cpuFacts.vectorBits) + " bits";
  return spec;
}

Status runsOnHost(const TargetSpec &target) {
  if (target.isGpu())
    return Status(StatusCode::Unavailable, "target " + target.name + " is a GPU; code for it does not run on a CPU");
  HostCpu host = detectHostCpu();
  CpuArch arch = target.cpuFacts.arch;
  if (!host.known || arch != host.arch)
    return Status(StatusCode::DoesNotFit, "target " + target.name + " is for " + std::string(archName(arch)) +
                                              ", this machine is " +
                                              (host.known ? std::string(archName(host.arch)) : "something else"))
        .withHint("`tilec compile` makes code for other machines; running it needs one of them");
  TILEJIT_ASSIGN_OR_RETURN(FeatureSet needed, neededFeatures(target));
  if (FeatureSet missing = needed & ~host.features)
    return Status(StatusCode::DoesNotFit,
                  "target " + target.name + " needs features that this machine lacks: " + listFeatures(arch, missing))
        .withHint("use --target native");
  return Status::ok();
}

std::span<const TargetSpec> knownTargets() {
  static const std::vector<TargetSpec> targets = [] {
    std::vector<TargetSpec> list = {hostTarget()};
    for (const CpuRow &row : cpuRows())
      list.push_back(specOf(row));
    for (const GpuRow &row : gpuRows())
      list.push_back(*specOf(row));
    for (const GpuRow &row : gpuRows())
      if (row.simulated)
        list.push_back(*parseTarget(std::string(simulatorPrefix) + std::string(row.name)));
    return list;
  }();
  return targets;
}

} // namespace tilejit
