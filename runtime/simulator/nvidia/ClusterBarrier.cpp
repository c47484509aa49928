// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Arrivals and waits at the barrier of a cluster: phases, what passes from those who arrive to those who wait, and the
// instructions.

#include "nvidia/ClusterBarrier.h"

#include "core/Block.h"
#include "core/GlobalShadow.h"
#include "nvidia/Capability.h"
#include "nvidia/Ptx.h"
#include "nvidia/State.h"

#include <algorithm>
#include <numeric>

namespace tilejit::sim {

namespace {

/// Bits of imm.
constexpr int64_t isAligned = 1, isRelaxed = 2;

/// Begins the next phase when all threads there are have arrived in the present one.
void settlePhase(Block &block) {
  ClusterBarrier &barrier = block.nvidia->clusterBarrier;
  bool any = false;
  for (const Warp &warp : block.warps) {
    any |= barrier.arrived[warp.index] != 0;
    if (warp.live & ~barrier.arrived[warp.index])
      return;
  }
  if (!any)
    return;
  ++barrier.phase;
  std::fill(barrier.arrived.begin(), barrier.arrived.end(), 0);
  joinInto(barrier.done, barrier.clock);
  joinInto(barrier.doneProxy, barrier.proxy);
  joinInto(barrier.passed, barrier.come);
  ++block.progress;
  if (GlobalShadow *shadow = block.launch().globalShadow) {
    std::vector<unsigned> all(block.warps.size());
    std::iota(all.begin(), all.end(), 0u);
    shadow->barrier(block, all);
  }
}

/// The lanes whose phase is not complete.
LaneMask lanesWaiting(const ClusterBarrier &barrier, const Warp &warp, LaneMask lanes) {
  LaneMask waiting = 0;
  forEachLane(lanes, [&](unsigned l) {
    if (barrier.owed[warp.member(l)] > barrier.phase)
      waiting |= LaneMask(1) << l;
  });
  return waiting;
}

void arrive(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  ClusterBarrier &barrier = block.nvidia->clusterBarrier;
  LaneMask again = 0;
  forEachLane(warp.mask, [&](unsigned l) {
    if (std::exchange(barrier.owed[warp.member(l)], barrier.phase + 1))
      again |= LaneMask(1) << l;
  });
  if (again)
    block.report(ReportKind::Barrier, op.site, warp, firstLane(again),
                 "a second arrival at the barrier of the cluster without a wait",
                 "execute barrier.cluster.wait after each barrier.cluster.arrive");
  block.ordering.release(warp.index);
  const VectorClock &seen = block.ordering.seen(warp.index);
  if (!(op.imm & isRelaxed)) {
    joinInto(barrier.clock, seen);
    joinInto(barrier.proxy, block.ordering.proxySeen(warp.index));
  }
  joinInto(barrier.come, seen);
  barrier.arrived[warp.index] |= warp.mask;
  ++block.progress;
  settlePhase(block);
}

void wait(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  ClusterBarrier &barrier = block.nvidia->clusterBarrier;
  if ((op.imm & isAligned) && !block.meet(warp, warp.live))
    return;
  if (lanesWaiting(barrier, warp, warp.mask))
    return Block::waitForCluster(warp);
  LaneMask idle = 0;
  forEachLane(warp.mask, [&](unsigned l) {
    if (!std::exchange(barrier.owed[warp.member(l)], 0))
      idle |= LaneMask(1) << l;
  });
  if (idle)
    return block.report(ReportKind::Barrier, op.site, warp, firstLane(idle),
                        "a wait at the barrier of the cluster without an arrival",
                        "execute barrier.cluster.arrive before each barrier.cluster.wait");
  block.ordering.acquire(warp.index, barrier.done, warp.mask);
  joinInto(block.ordering.proxySeen(warp.index), barrier.doneProxy);
  joinInto(barrier.past[warp.rank], barrier.passed);
}

// --- Decoding -------------------------------------------------------------------------------------------------------

void emit(Decoder &decoder, llvm::StringRef name, bool waits, bool aligned, bool relaxed) {
  if (needsChip(decoder, 90, name))
    decoder.emit(waits ? wait : arrive).imm = (aligned ? isAligned : 0) | (relaxed ? isRelaxed : 0);
}

/// llvm.nvvm.barrier.cluster.{arrive,arrive.relaxed,wait}[.aligned]
void clusterCall(Call &call) {
  emit(call.decoder, call.name, call.name.contains(".wait"), call.name.contains(".aligned"),
       call.name.contains(".relaxed"));
}

/// barrier.cluster.{arrive{.release,.relaxed},wait{.acquire}}{.aligned}
void clusterStatement(AsmStatement &s) {
  if (!s.has("arrive") && !s.has("wait"))
    return unsupportedStatement(s);
  emit(s.decoder, s.mnemonic, s.has("wait"), s.has("aligned"), s.has("relaxed"));
}

} // namespace

void startClusterBarrier(Block &block) {
  ClusterBarrier &barrier = block.nvidia->clusterBarrier;
  barrier.arrived.assign(block.warps.size(), 0);
  barrier.owed.assign(block.warps.size() * block.program().width, 0);
  barrier.past.assign(block.places.size(), {});
}

bool openClusterBarrier(Block &block) {
  const ClusterBarrier &barrier = block.nvidia->clusterBarrier;
  bool opened = false, settled = false;
  for (Warp &warp : block.warps)
    for (LaneGroup &group : warp.groups) {
      if (group.wait != Wait::Cluster)
        continue;
      // Threads that have ended may have been all that was missing.
      if (!std::exchange(settled, true))
        settlePhase(block);
      if (lanesWaiting(barrier, warp, group.lanes))
        continue;
      group.wait = Wait::Nothing;
      opened = true;
    }
  return opened;
}

void addNvidiaClusterBarrierRules(Rules &rules) {
  rules.callPrefix("llvm.nvvm.barrier.cluster.", clusterCall);
  rules.assembly("barrier.cluster", clusterStatement);
}

} // namespace tilejit::sim
