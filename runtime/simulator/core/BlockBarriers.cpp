// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Block barriers, fences, and what is said when a block is stuck.

#include "core/Block.h"

#include "core/GlobalShadow.h"

#include <algorithm>

namespace tilejit::sim {

void Block::waitAtBarrier(Warp &warp, uint32_t barrier, uint32_t threads) {
  LaneGroup &group = retryAfter(warp, Wait::Barrier);
  group.barrier = barrier;
  group.barrierCount = threads;
  ++progress;
}

void Block::waitForCluster(Warp &warp) { retryAfter(warp, Wait::Cluster); }

void Block::arriveAtBarrier(Warp &warp, uint32_t barrier, uint32_t threads) {
  BarrierName name{warp.rank, barrier};
  auto found = std::find_if(arrivals_.begin(), arrivals_.end(), [&](const Arrival &a) { return a.name == name; });
  if (found == arrivals_.end())
    found = arrivals_.insert(arrivals_.end(), Arrival{name, 0, {}});
  // Threads are counted by whole warps, as the hardware does.
  found->threads += warp.width;
  ordering.release(warp.index);
  joinInto(found->clock, ordering.seen(warp.index));
  ++progress;
}

/// Opens the barriers at which everybody has arrived.
bool Block::releaseBarriers() {
  std::vector<std::pair<BarrierName, uint32_t>> waited; // And the number of threads it needs.
  for (const Warp &warp : warps)
    for (const LaneGroup &group : warp.groups)
      if (group.wait == Wait::Barrier)
        waited.emplace_back(BarrierName{warp.rank, group.barrier}, group.barrierCount);
  std::sort(waited.begin(), waited.end());
  waited.erase(std::unique(waited.begin(), waited.end()), waited.end());
  bool opened = false;
  for (auto [barrier, needed] : waited)
    if (barrierIsFull(barrier, needed)) {
      releaseBarrier(barrier);
      opened = true;
    }
  return opened;
}

bool Block::barrierIsFull(BarrierName barrier, uint32_t needed) const {
  uint32_t threads = 0;
  bool all = true;
  for (const Warp &warp : warps) {
    if (warp.rank != barrier.rank)
      continue;
    LaneMask here = 0;
    for (const LaneGroup &group : warp.groups)
      if (group.wait == Wait::Barrier && group.barrier == barrier.number)
        here |= group.lanes;
    all &= here == warp.live;
    if (here)
      threads += here == warp.live ? warp.width : 0;
  }
  for (const Arrival &arrival : arrivals_)
    if (arrival.name == barrier)
      threads += arrival.threads;
  return needed ? threads >= needed : all;
}

void Block::releaseBarrier(BarrierName barrier) {
  std::vector<unsigned> there, members;
  bool all = true;
  for (Warp &warp : warps) {
    if (warp.rank != barrier.rank)
      continue;
    members.push_back(warp.index);
    LaneMask here = 0;
    for (LaneGroup &group : warp.groups) {
      if (group.wait != Wait::Barrier || group.barrier != barrier.number)
        continue;
      here |= group.lanes;
      group.wait = Wait::Nothing;
      group.resumed = true;
    }
    if (here || (trapped_ && !warp.live))
      there.push_back(warp.index);
    all &= here == warp.live;
  }
  for (const Arrival &arrival : arrivals_)
    if (arrival.name == barrier)
      for (unsigned w : there)
        ordering.acquire(w, arrival.clock, 0);
  std::erase_if(arrivals_, [&](const Arrival &a) { return a.name == barrier; });
  ordering.barrier(there, all && places.size() == 1);
  if (all && launch_->globalShadow)
    launch_->globalShadow->barrier(*this, members);
  ++progress;
}

void Block::fence(Warp &warp, bool release, bool acquire, Scope scope) {
  if (release)
    ordering.releaseFence(warp.index);
  if (acquire)
    ordering.acquireFence(warp.index, warp.mask);
  if (launch_->globalShadow && scope > Scope::Cluster)
    launch_->globalShadow->fence(*this, warp, release, acquire);
}

/// Nobody can go on (`deadlock`), or a warp used up its instructions.
void Block::reportStuck(bool deadlock) {
  abandoned_ = true;
  if (trapped_)
    return;
  for (Warp &warp : warps)
    for (const LaneGroup &group : warp.groups) {
      const Op &op =
          program().blocks[group.block].ops[std::min<size_t>(group.next, program().blocks[group.block].ops.size() - 1)];
      if (deadlock) {
        bool atBarrier = group.wait == Wait::Barrier || group.wait == Wait::Cluster;
        const char *what = atBarrier                   ? "waits at a barrier that the others do not reach"
                           : group.wait == Wait::World ? "waits for another block"
                                                       : "polls for something that does not come";
        report(ReportKind::Deadlock, op.site, warp, firstLane(group.lanes), what,
               atBarrier ? "every thread that the barrier counts must reach it"
                         : "who should signal has ended, waits itself, or announced other bytes or arrivals");
      } else if (warp.budget < program().blocks[group.block].instructions) {
        report(ReportKind::Budget, op.site, warp, firstLane(group.lanes),
               "the instruction budget of " + std::to_string(options().instructionBudget) + " for one warp is used up",
               program().lockStep && warp.groups.size() > 1
                   ? "the lanes of a wave run in step: one that polls for another of them waits for ever"
                   : "an endless loop, or a larger problem than meant for a simulation");
      }
    }
}

} // namespace tilejit::sim
