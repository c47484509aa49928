// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What is special about shared memory that other blocks of a cluster reach: an address that names the block's own
// memory must not lead to another's, and a block must not end before the others have done with its memory. Who accesses
// the memory of a block that has ended is seen at once; that a block only happened to be still there is seen when it
// ends, by the clocks.

#include "core/Block.h"

#include <algorithm>

namespace tilejit::sim {

bool Block::hasEnded(unsigned rank) const {
  return std::none_of(warps.begin(), warps.end(), [&](const Warp &warp) { return warp.rank == rank && warp.live; });
}

void Block::reportReach(uint32_t site, const Warp &warp, unsigned lane, uint64_t address, std::string_view what) {
  if (checks(Check::Race))
    reportAt(ReportKind::Race, site, warp, lane, Space::Shared, address, what,
             "let the blocks of the cluster meet (barrier.cluster) after the last access and before any of them ends");
}

void Block::checkOwner(Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access) {
  forEachLane(lanes, [&](unsigned l) {
    unsigned owner = shared.ownerOf(address[l]);
    if (owner == warp.rank)
      return;
    shared.noteReach(warp.index);
    if (access.own && checks(Check::Bounds))
      reportAt(ReportKind::Bounds, access.site, warp, l, Space::Shared, address[l],
               "an access to shared memory of the thread's own block by an address of another block's",
               "use an instruction on shared::cluster, or a generic pointer");
    if (hasEnded(owner))
      reportReach(access.site, warp, l, address[l], "access to shared memory of a block that has ended,");
  });
}

void SharedMemory::checkReaches(Block &block, unsigned rank, const VectorClock &seen) {
  auto reaches = [&](unsigned warp) { return reaches_[warp] && block.warps[warp].rank != rank; };
  std::vector<unsigned> others;
  for (unsigned w = 0; w < warps_; ++w)
    if (reaches(w))
      others.push_back(w);
  if (!track_ || others.empty() || !size_)
    return;
  for (unsigned w : others)
    reads_[w].settle();
  uint32_t before = 0;
  auto check = [&](uint32_t number, unsigned lane, uint32_t granule) {
    if (number < start_ || (number & pendingBit) || number == before)
      return;
    before = number;
    const AccessEvent &event = block.ordering.event(number);
    if (event.actor < warps_ && reaches(event.actor) && event.clock > seen[event.actor])
      block.reportReach(event.site, block.warps[event.actor], lane, uint64_t(granule) << shift_,
                        "access to shared memory of a block that nothing keeps from ending before,");
  };
  for (uint32_t g = base(rank) >> shift_; g <= (base(rank) + size_ - 1) >> shift_; ++g) {
    check(writeEvent_[g], writeLane_[g], g);
    for (unsigned w : others)
      check(reads_[w].event(g), reads_[w].lane(g), g);
  }
}

} // namespace tilejit::sim
