// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Asynchronous operations at the edges of blocks: new states at the start, what lands when a block stands still, what
// is left over at the end.

#include "nvidia/State.h"

#include "core/Block.h"
#include "nvidia/AsyncCopy.h"
#include "nvidia/BulkCopy.h"
#include "nvidia/Mbarrier.h"

#include <algorithm>

namespace tilejit::sim {

void startNvidiaBlock(Block &block) {
  block.nvidia = std::make_shared<NvidiaBlockState>();
  block.nvidia->votes.resize(block.places.size());
  startClusterBarrier(block);
  for (Warp &warp : block.warps) {
    warp.nvidia = std::make_shared<NvidiaWarpState>();
    warp.nvidia->inFlight.assign(block.program().trackedRegisters, 0);
    warp.nvidia->touched.assign(block.program().trackedRegisters, 0);
  }
}

// --- Landing --------------------------------------------------------------------------------------------------------

/// Whether a warp polls an mbarrier.
static bool isPolled(const Block &block, uint32_t address) {
  return std::any_of(block.warps.begin(), block.warps.end(), [&](const Warp &warp) {
    const std::vector<uint32_t> &polled = warp.nvidia->polled;
    return warp.live && std::find(polled.begin(), polled.end(), address) != polled.end();
  });
}

static void landLoadAt(Block &block, size_t index) {
  auto &loads = block.nvidia->loads;
  BulkCopy copy = std::move(loads[index]);
  loads.erase(loads.begin() + static_cast<ptrdiff_t>(index));
  landLoad(block, copy);
}

static void landArrivalAt(Block &block, size_t index) {
  auto &arrivals = block.nvidia->arrivals;
  DeferredArrival arrival = arrivals[index];
  arrivals.erase(arrivals.begin() + static_cast<ptrdiff_t>(index));
  landArrival(block, arrival);
}

bool landCopies(Block &block) {
  NvidiaBlockState &state = *block.nvidia;
  for (size_t i = 0; i < state.loads.size(); ++i)
    if (isPolled(block, state.loads[i].mbarrier)) {
      landLoadAt(block, i);
      return true;
    }
  for (size_t i = 0; i < state.arrivals.size(); ++i) {
    const DeferredArrival &arrival = state.arrivals[i];
    bool polled = false;
    forEachLane(arrival.lanes, [&](unsigned l) { polled = polled || isPolled(block, arrival.mbarrier[l]); });
    if (polled) {
      landArrivalAt(block, i);
      return true;
    }
  }
  if (!state.loads.empty())
    landLoadAt(block, 0);
  else if (!state.arrivals.empty())
    landArrivalAt(block, 0);
  else
    return false;
  return true;
}

// --- Ends -----------------------------------------------------------------------------------------------------------

static void reportUnread(Block &block, const Warp &warp, const BulkCopy &copy, bool committed) {
  if (copy.read || !block.checks(Check::Async))
    return;
  block.reportAt(ReportKind::Async, copy.site, warp, copy.lane, Space::Shared, copy.shared,
                 committed ? "the thread of a bulk store ends before the store has read its source"
                           : "a bulk store is in no group when its thread ends",
                 committed ? "wait with cp.async.bulk.wait_group.read 0 before the end"
                           : "execute cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0");
}

/// A thread block has ended: nobody may touch its shared memory any more.
static void endThreadBlock(Block &block, unsigned rank) {
  if (block.checks(Check::Async))
    for (const BulkCopy &copy : block.nvidia->loads)
      if (block.shared.ownerOf(copy.shared) == rank)
        block.reportAt(ReportKind::Async, copy.site, block.warps[copy.warp], copy.lane, Space::Shared, copy.shared,
                       "the block ends while a bulk copy to its shared memory is on its way",
                       "wait for the mbarrier of every copy, even if its data is not wanted");
  if (block.places.size() == 1)
    return;
  VectorClock seen = block.nvidia->clusterBarrier.past[rank];
  for (const Warp &warp : block.warps)
    if (warp.rank == rank)
      joinInto(seen, block.ordering.seen(warp.index));
  block.shared.checkReaches(block, rank, seen);
}

void endNvidiaWarp(Warp &warp) {
  Block &block = *warp.block;
  CopyGroups<BulkCopy> &stores = warp.nvidia->stores;
  for (const auto &group : stores.groups)
    for (const BulkCopy &copy : group.copies)
      reportUnread(block, warp, copy, true);
  for (const BulkCopy &copy : stores.open)
    reportUnread(block, warp, copy, false);
  if (block.hasEnded(warp.rank))
    endThreadBlock(block, warp.rank);
}

/// The warps of a warpgroup must have executed the same products.
static void compareProducts(Block &block) {
  constexpr unsigned groupWarps = 4;
  for (const Warp &warp : block.warps) {
    const NvidiaWarpState &mine = *warp.nvidia, &first = *block.warps[warp.index - warp.place % groupWarps].nvidia;
    if ((mine.products == first.products && mine.digest == first.digest) || !block.checks(Check::Divergence))
      continue;
    block.report(ReportKind::Divergence, mine.products ? mine.productSite : first.productSite, warp, 0,
                 "the four warps of a warpgroup executed different products (" + std::to_string(first.products) +
                     " and " + std::to_string(mine.products) + ", or with other operands)",
                 "all four warps must execute each wgmma together, with the same descriptors");
  }
}

void endNvidiaBlock(Block &block) {
  NvidiaBlockState &state = *block.nvidia;
  for (Warp &warp : block.warps) {
    CopyGroups<BulkCopy> &stores = warp.nvidia->stores;
    for (auto &group : stores.groups)
      for (BulkCopy &copy : group.copies)
        writeStore(block, copy);
    for (BulkCopy &copy : stores.open)
      writeStore(block, copy);
  }
  for (const auto &[address, barrier] : state.mbarriers)
    if (barrier.bytes && !barrier.inFlight)
      block.reportAt(ReportKind::Barrier, barrier.site, block.warps[barrier.warp], 255, Space::Shared, address,
                     barrier.bytes > 0 ? "at the end of the block, " + std::to_string(barrier.bytes) +
                                             " bytes that were announced to this mbarrier have not come"
                                       : std::to_string(-barrier.bytes) +
                                             " bytes more than were announced to this mbarrier have come",
                     "announce with expect_tx exactly the bytes that the copies of a phase bring");
  compareProducts(block);
}

} // namespace tilejit::sim
