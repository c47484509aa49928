// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bulk copies to the blocks of a cluster.

#include "nvidia/Multicast.h"

#include "nvidia/Mbarrier.h"

namespace tilejit::sim {

namespace {

void startAt(Warp &warp, const BulkCopy &copy, uint32_t mbarrier) {
  Mbarrier *barrier = findMbarrier(warp, copy.lane, copy.site, mbarrier, true);
  if (!barrier)
    return;
  if (copy.way != BulkCopy::Way::LaneToShared)
    checkInitFenced(warp, copy.lane, copy.site, *barrier);
  startLoad(warp, *barrier, copy);
}

} // namespace

void startLoads(Warp &warp, const BulkCopy &copy, uint32_t mbarrier, std::optional<uint32_t> blocks) {
  Block &block = *warp.block;
  const SharedMemory &shared = block.shared;
  if (!blocks) {
    if (shared.ownerOf(copy.shared) != shared.ownerOf(mbarrier))
      block.reportAt(ReportKind::Barrier, copy.site, warp, copy.lane, Space::Shared, mbarrier,
                     "the mbarrier of a copy lies in another block than its destination",
                     "map both addresses to the same block (mapa)");
    return startAt(warp, copy, mbarrier);
  }
  if (*blocks >> shared.blocks())
    return block.report(ReportKind::Bounds, copy.site, warp, copy.lane,
                        "a copy to the blocks of mask " + std::to_string(*blocks) + " of a cluster of " +
                            std::to_string(shared.blocks()) + " blocks",
                        "clear the bits of blocks that are not in the cluster");
  for (unsigned rank = 0; rank < shared.blocks(); ++rank) {
    if (!(*blocks >> rank & 1))
      continue;
    BulkCopy there = copy;
    there.shared = shared.base(rank) + static_cast<uint32_t>(shared.offsetOf(copy.shared));
    startAt(warp, there, shared.base(rank) + static_cast<uint32_t>(shared.offsetOf(mbarrier)));
  }
}

} // namespace tilejit::sim
