// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The least of four quotients. Both vendors allot registers to whole warps, from the share of one of four schedulers,
// and shared memory to whole blocks.

#include "tilejit/Target/Occupancy.h"

#include <algorithm>
#include <array>

namespace tilejit {

namespace {

/// Parts of a unit, each with its share of the registers: on every chip of both vendors.
constexpr int64_t schedulers = 4;

int64_t ceilDivide(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }
int64_t roundUp(int64_t value, int64_t granule) { return ceilDivide(value, granule) * granule; }

} // namespace

Occupancy occupancyOf(const GpuFacts &facts, const BlockNeeds &needs) {
  int64_t warps = ceilDivide(std::max<int64_t>(needs.threads, 1), facts.warpLanes), threads = warps * facts.warpLanes;
  int64_t registers = roundUp(std::max<int64_t>(needs.registers, 1), facts.registerGranule);
  int64_t residentWarps = facts.registersPerUnit / schedulers / (facts.warpLanes * registers) * schedulers;
  struct Bound {
    int64_t blocks;
    std::string_view limit;
  };
  std::array bounds = {
      Bound{facts.maxUnitThreads / threads, "threads"},
      Bound{facts.maxUnitBlocks, "blocks"},
      Bound{needs.registers > facts.maxThreadRegisters ? 0 : residentWarps / warps, "registers"},
      Bound{needs.sharedBytes > facts.maxBlockShared ? 0
            : needs.sharedBytes > 0                  ? facts.unitShared / needs.sharedBytes
                                                     : facts.maxUnitBlocks,
            "shared memory"},
  };
  auto least = std::min_element(bounds.begin(), bounds.end(),
                                [](const Bound &a, const Bound &b) { return a.blocks < b.blocks; });
  Occupancy occupancy;
  occupancy.blocks = needs.threads > facts.maxBlockThreads ? 0 : least->blocks;
  occupancy.percent = 100 * occupancy.blocks * threads / facts.maxUnitThreads;
  occupancy.limit = least->limit;
  return occupancy;
}

} // namespace tilejit
