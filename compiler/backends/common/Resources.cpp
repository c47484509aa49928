// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Largest and lowest numbers.

#include "Resources.h"

#include "tilejit/Target/Occupancy.h"

#include <algorithm>

namespace tilejit::backends {

namespace {

using Numbers = std::map<std::string, int64_t>;

void raise(Numbers &into, const std::string &key, int64_t value) {
  auto [row, isNew] = into.emplace(key, value);
  if (!isNew)
    row->second = std::max(row->second, value);
}

const abi::GpuKernel *findLaunch(const abi::GpuLaunch &launch, const std::string &symbol) {
  for (const abi::GpuKernel &kernel : launch.kernels)
    if (kernel.symbol == symbol)
      return &kernel;
  return nullptr;
}

} // namespace

std::map<std::string, int64_t> collectResources(std::span<const KernelResources> kernels, const TargetSpec &target,
                                                const abi::GpuLaunch &launch) {
  Numbers all;
  int64_t lowest = -1;
  for (const abi::GpuKernel &kernel : launch.kernels)
    raise(all, "shared_bytes", kernel.sharedBytes);
  for (const KernelResources &kernel : kernels) {
    Numbers numbers = kernel.numbers;
    const abi::GpuKernel *launched = findLaunch(launch, kernel.symbol);
    if (launched) {
      numbers["shared_bytes"] += launched->sharedBytes;
      BlockNeeds needs = {launched->threads, numbers["registers"], numbers["shared_bytes"]};
      int64_t percent = occupancyOf(target.gpuFacts, needs).percent;
      lowest = lowest < 0 ? percent : std::min(lowest, percent);
    }
    for (const auto &[key, value] : numbers)
      raise(all, key, value);
  }
  if (lowest >= 0)
    all["occupancy"] = lowest;
  return all;
}

} // namespace tilejit::backends
