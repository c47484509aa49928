// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// mbarrier objects: their counts and phases, and what passes through them from those who arrive to those who wait.

#include "nvidia/Mbarrier.h"

#include "core/Block.h"
#include "core/Pointers.h"

#include <cstring>

namespace tilejit::sim {

namespace {

constexpr uint32_t objectBytes = 8;

/// What the bytes of an mbarrier hold: nothing that a program could mean to store there.
uint64_t sealOf(uint32_t address) { return 0x5ea1'ba55'0000'0000ull | (address * 0x9e3779b1u); }

} // namespace

/// An access of one lane to the eight bytes of an mbarrier; whether they are in bounds.
static bool accessObject(Warp &warp, unsigned lane, uint32_t site, uint32_t address, bool write, bool atomic) {
  uint64_t place[64];
  place[lane] = address;
  Access access;
  access.size = access.alignment = objectBytes;
  access.site = site;
  access.write = write;
  access.atomic = atomic;
  return warp.block->access(warp, Space::Shared, place, LaneMask(1) << lane, access) != 0;
}

static void sealMbarrier(Block &block, const Mbarrier &barrier) {
  uint64_t seal = sealOf(barrier.address);
  std::memcpy(block.shared.data() + barrier.address, &seal, sizeof seal);
}

Mbarrier *findMbarrier(Warp &warp, unsigned lane, uint32_t site, uint32_t address, bool byCopy) {
  Block &block = *warp.block;
  auto &barriers = block.nvidia->mbarriers;
  auto found = barriers.find(address);
  if (found == barriers.end()) {
    block.reportAt(ReportKind::Barrier, site, warp, lane, Space::Shared, address,
                   "use of an mbarrier that is not initialised",
                   "execute mbarrier.init first, and a barrier before other warps use it");
    return nullptr;
  }
  Mbarrier &barrier = found->second;
  unsigned owner = block.shared.ownerOf(address);
  bool isKnown = barrier.knownTo[warp.index];
  if (byCopy && owner != warp.rank) {
    if (block.hasEnded(owner))
      block.reportReach(site, warp, lane, address, "a copy to shared memory of a block that has ended,");
    isKnown |= block.ordering.ordered(barrier.event, 255, warp.index, lane);
  } else {
    // Accesses to those of other blocks must also come before the end of the block that has it.
    isKnown &= owner == warp.rank;
  }
  if (!isKnown) {
    accessObject(warp, lane, site, address, false, true);
    barrier.knownTo.set(warp.index);
  }
  uint64_t seal = sealOf(address);
  if (std::memcmp(block.shared.data() + address, &seal, sizeof seal) != 0) {
    block.reportAt(ReportKind::Barrier, site, warp, lane, Space::Shared, address,
                   "use of an mbarrier whose bytes were overwritten",
                   "keep other data away from it, or invalidate it before its memory is used again");
    sealMbarrier(block, barrier);
  }
  return &barrier;
}

unsigned agentOf(Block &block, Mbarrier &barrier) {
  if (barrier.agent == noAgent)
    barrier.agent = block.ordering.addAgent();
  return barrier.agent;
}

/// Begins the next phase when nothing is missing in the present one.
static void settlePhase(Block &block, Mbarrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  joinInto(barrier.done, barrier.clock);
  joinInto(barrier.doneProxy, barrier.proxy);
  ++block.progress;
}

void publishAt(Block &block, Mbarrier &barrier, unsigned actor) {
  joinInto(barrier.clock, block.ordering.seen(actor));
  joinInto(barrier.proxy, block.ordering.proxySeen(actor));
}

void arriveAt(Block &block, Mbarrier &barrier, const Warp &warp, unsigned lane, uint32_t site, uint32_t count) {
  if (count > barrier.pending) {
    block.reportAt(ReportKind::Barrier, site, warp, lane, Space::Shared, barrier.address,
                   std::to_string(count) + " arrivals at an mbarrier that waits for " +
                       std::to_string(barrier.pending) + " more in this phase",
                   "initialise it with the number of arrivals of a phase, or wait for the phase before arriving again");
    count = barrier.pending;
  }
  barrier.pending -= count;
  ++block.progress;
  settlePhase(block, barrier);
}

void countBytes(Block &block, Mbarrier &barrier, const Warp &warp, unsigned lane, uint32_t site, int64_t come) {
  barrier.bytes -= come;
  if (barrier.bytes > mostBytes || barrier.bytes < -mostBytes)
    block.reportAt(ReportKind::Barrier, site, warp, lane, Space::Shared, barrier.address,
                   "an mbarrier is to wait for " + std::to_string(barrier.bytes) + " bytes",
                   "a phase counts at most 1048575 bytes");
  if (come > 0)
    settlePhase(block, barrier);
}

void fenceInitialisations(Warp &warp, bool ownOnly) {
  Block &block = *warp.block;
  for (auto &[address, barrier] : block.nvidia->mbarriers)
    barrier.fenced |=
        barrier.warp == warp.index || (!ownOnly && block.ordering.ordered(barrier.event, 255, warp.index, 255));
}

void checkInitFenced(Warp &warp, unsigned lane, uint32_t site, Mbarrier &barrier) {
  Block &block = *warp.block;
  // A block barrier in between does on all hardware there is, though the architecture promises it for fences only.
  if (barrier.fenced || barrier.event < block.ordering.safe(warp.index) || !block.checks(Check::Proxy))
    return;
  if (block.reports.isNew(ReportKind::Proxy, site, barrier.site))
    block.reports.add(
        ReportKind::Proxy, site, barrier.site,
        "a copy signals an mbarrier whose initialisation may not have reached the asynchronous proxy, at " +
            block.describe(Space::Shared, barrier.address) + " by " + block.who(warp.index, lane),
        "put fence.mbarrier_init.release.cluster or fence.proxy.async after mbarrier.init");
}

// --- Instructions ---------------------------------------------------------------------------------------------------

void initMbarrier(Warp &warp, unsigned lane, uint32_t site, uint32_t address, uint32_t count) {
  Block &block = *warp.block;
  if (!accessObject(warp, lane, site, address, true, false) || address % objectBytes)
    return;
  if (count == 0 || count > mostArrivals)
    block.reportAt(ReportKind::Barrier, site, warp, lane, Space::Shared, address,
                   "an mbarrier for " + std::to_string(count) + " arrivals", "1 to 1048575 arrivals make a phase");
  auto &barriers = block.nvidia->mbarriers;
  auto old = barriers.find(address);
  unsigned agent = noAgent;
  if (old != barriers.end()) {
    const Mbarrier &before = old->second;
    agent = before.agent;
    if (before.inFlight || before.bytes || before.pending != before.expected)
      block.reportAt(ReportKind::Barrier, site, warp, lane, Space::Shared, address,
                     "an mbarrier is initialised again in the middle of a phase",
                     "wait for the phase and execute mbarrier.inval before");
  }
  Mbarrier fresh;
  fresh.address = address;
  fresh.site = site;
  fresh.warp = warp.index;
  fresh.event = block.ordering.nextEvent() - 1;
  fresh.expected = fresh.pending = count;
  fresh.agent = agent;
  fresh.knownTo.set(warp.index);
  sealMbarrier(block, barriers[address] = fresh);
}

void invalidateMbarrier(Warp &warp, unsigned lane, uint32_t site, uint32_t address) {
  Block &block = *warp.block;
  Mbarrier *barrier = findMbarrier(warp, lane, site, address);
  if (!barrier)
    return;
  if (barrier->inFlight || barrier->bytes)
    block.reportAt(ReportKind::Barrier, site, warp, lane, Space::Shared, address,
                   "an mbarrier is invalidated while it waits for bytes of copies", "wait for its phase before");
  accessObject(warp, lane, site, address, true, false);
  std::memset(block.shared.data() + address, 0xcd, objectBytes);
  if (!barrier->inFlight)
    block.nvidia->mbarriers.erase(address);
}

} // namespace tilejit::sim
