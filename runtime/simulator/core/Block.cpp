// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Turns of warps: who runs, who waits for what, and what happens when nobody can run.

#include "core/Block.h"

#include "amd/State.h"
#include "core/GlobalShadow.h"
#include "nvidia/State.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace tilejit::sim {

namespace {

// Instructions of a warp before the others get a turn, so that one that spins on a plain load can't stop the block.
constexpr uint64_t timeSlice = 1 << 16;
// What an atomic or volatile read counts for: who spins on one gives way soon.
constexpr uint64_t instructionsOfLook = 256;
// Rounds in which everybody polls in vain before that is called a deadlock.
constexpr unsigned patience = 1000;

uint64_t nextRandom(uint64_t &state) {
  // SplitMix64 (G. Steele, D. Lea, C. Flood, 2014).
  uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

} // namespace

void Block::start(const LaunchState &launch, uint64_t blockNumber, Counters *siteCounters, BlockCount *blockCounters) {
  unsigned blocks = launch.clusters.blocks(), numWarps = blocks * launch.warps;
  bool isNew = launch_ != &launch;
  launch_ = &launch;
  number = blockNumber;
  places.clear();
  for (unsigned rank = 0; rank < blocks; ++rank)
    places.push_back(launch.clusters.place(number, rank));
  counters = siteCounters;
  blockCounts = blockCounters;
  if (isNew) {
    warps = std::vector<Warp>(numWarps);
    shared.configure(launch.sharedBytes, blocks, program().sharedGranule, numWarps,
                     checks(Check::Race) || checks(Check::Uninitialized) || checks(Check::Async));
    order_.resize(numWarps);
    for (unsigned w = 0; w < numWarps; ++w)
      order_[w] = w;
  }
  ordering.reset(numWarps, program().lockStep);
  handed.clear();
  if (launch.globalShadow)
    launch.globalShadow->begin(*this);
  shared.reset(ordering);
  reports.clear();
  printed.clear();
  arrivals_.clear();
  progress = 0;
  abandoned_ = trapped_ = world_ = false;
  recent_ = nullptr;
  turns_ = options().scheduleSeed ^ (number * 0x9e3779b97f4a7c15ull);
  for (unsigned w = 0; w < numWarps; ++w) {
    warps[w].index = w;
    warps[w].rank = w / launch.warps;
    warps[w].place = w % launch.warps;
    startWarp(warps[w]);
  }
  if (launch.chip->info.nvidia)
    startNvidiaBlock(*this);
  else
    startAmdBlock(*this);
}

void Block::startWarp(Warp &warp) {
  const Program &p = program();
  warp.block = this;
  warp.width = p.width;
  warp.live = lanesBelow(std::min(p.width, launch_->threads - warp.thread(0)));
  warp.groups.assign(1, LaneGroup{});
  warp.groups[0].lanes = warp.live;
  warp.budget = options().instructionBudget;
  if (warp.storage.empty()) {
    warp.storage.resize(p.registerBytes + 128);
    warp.registers = warp.storage.data() + (-reinterpret_cast<uintptr_t>(warp.storage.data()) & 63);
  }
  std::memcpy(warp.registers, launch_->registerImage.data(), launch_->registerImage.size());
  if (warp.rank)
    for (const Constant &constant : p.constants)
      if (constant.base == Constant::Base::Shared) {
        uint64_t bits = constant.bits + shared.base(warp.rank);
        for (unsigned l = 0, bytes = sizeOf(constant.kind); l < p.width; ++l)
          std::memcpy(warp.registers + constant.reg + size_t(l) * bytes, &bits, bytes);
      }
  warp.marks.assign(p.undefinedSlots, 0);
  for (uint32_t slot : p.undefinedAtStart)
    warp.marks[slot] = ~LaneMask(0);
  if (p.localBytes) {
    warp.local.assign(size_t(p.localBytes) * p.width, 0xcd);
    warp.localWritten.assign(checks(Check::Uninitialized) ? warp.local.size() : 0, 0);
  }
}

RunState Block::run() {
  unsigned idle = 0;
  while (!abandoned_) {
    if (options().scheduleSeed)
      for (size_t i = order_.size(); i > 1; --i)
        std::swap(order_[i - 1], order_[nextRandom(turns_) % i]);
    uint64_t before = progress;
    bool ran = false, alive = false, worked = false, interrupted = false;
    for (unsigned w : order_) {
      Warp &warp = warps[w];
      if (!warp.live)
        continue;
      if (select(warp)) {
        ran = true;
        uint64_t slice = timeSlice;
        worked |= runWarp(warp, slice);
        interrupted |= slice == 0;
      }
      alive |= warp.live != 0;
      if (abandoned_)
        break;
    }
    if (abandoned_)
      break;
    if (!alive)
      break;
    if (releaseBarriers() || (launch_->chip->info.nvidia && openClusterBarrier(*this)))
      continue;
    if (worked || progress != before) {
      idle = 0;
      // Whoever spins on shared memory may do so until the world lets another warp go on.
      if ((!ran || interrupted) && waitsForWorld())
        return trapped_ ? RunState::Abandoned : RunState::Parked;
      continue;
    }
    if (launch_->chip->info.nvidia && landCopies(*this))
      continue;
    if (waitsForWorld())
      return trapped_ ? RunState::Abandoned : RunState::Parked;
    bool met = false;
    for (Warp &warp : warps)
      met |= meetFailed(warp);
    if (met)
      continue;
    if (!ran || ++idle > patience) {
      reportStuck(true);
      return RunState::Abandoned;
    }
  }
  if (abandoned_ || trapped_)
    return RunState::Abandoned;
  if (launch_->chip->info.nvidia)
    endNvidiaBlock(*this);
  return RunState::Done;
}

/// Runs a warp until it blocks, pauses or its time is up. Whether it did more than poll.
bool Block::runWarp(Warp &warp, uint64_t &slice) {
  bool worked = false;
  while (LaneGroup *group = select(warp)) {
    uint64_t left = slice;
    bool goOn = execute(warp, *group, slice);
    if (abandoned_ || !warp.live)
      return true;
    // It polls; what it did before that others may wait for is counted in `progress`.
    if (!goOn)
      return slice == 0;
    worked |= left != slice;
    if (slice == 0)
      return true;
  }
  return worked;
}

/// Executes a group until it branches apart, waits or pauses. False: the warp's turn is over.
bool Block::execute(Warp &warp, LaneGroup &group, uint64_t &slice) {
  const std::vector<BasicBlock> &blocks = program().blocks;
  auto place = static_cast<size_t>(&group - warp.groups.data());
  warp.mask = group.lanes;
  warp.current = group.block;
  warp.resumed = group.resumed;
  warp.looks = 0;
  group.resumed = false;
  const Op *op = blocks[warp.current].ops.data() + group.next;
  warp.running = static_cast<uint32_t>(place);
  if (group.next == 0 && !warp.resumed)
    countEntry(warp);
  for (;;) {
    warp.stop = false;
    op->run(warp, *op);
    if (!warp.stop) [[likely]] {
      warp.resumed = false;
      ++op;
      continue;
    }
    auto number = static_cast<uint32_t>(op - blocks[warp.current].ops.data());
    switch (warp.request) {
    case Warp::Request::Branch: {
      uint64_t spent = blocks[warp.groups[place].block].instructions;
      if (warp.budget < spent) {
        reportStuck(false);
        abandoned_ = true;
        return false;
      }
      warp.budget -= spent;
      uint32_t looks = std::exchange(warp.looks, 0);
      slice -= std::min(slice, spent + looks * instructionsOfLook);
      if (warp.groups.size() != 1 || slice == 0) {
        takeTurns(warp.groups[place], spent, looks);
        std::erase_if(warp.groups, [](const LaneGroup &g) { return g.lanes == 0; });
        for (LaneGroup &g : warp.groups)
          if (g.wait == Wait::Lanes)
            tryMeet(warp, g);
        return true;
      }
      LaneGroup &mine = warp.groups[0];
      if (!mine.lanes) {
        warp.groups.clear();
        return true;
      }
      warp.current = mine.block;
      if (mine.next == 0)
        countEntry(warp);
      op = blocks[warp.current].ops.data() + mine.next; // Not the first one: a branch within assembly.
      continue;
    }
    case Warp::Request::Retry:
      stopGroup(warp, warp.groups[place], number);
      return true;
    case Warp::Request::Pause:
      warp.groups[place].block = warp.current;
      warp.groups[place].next = number + 1;
      warp.groups[place].hadTurn = !program().lockStep;
      return false;
    default:
      abandoned_ = true;
      return false;
    }
  }
}

void Block::countEntry(const Warp &warp) {
  BlockCount &count = blockCounts[warp.current];
  ++count.executions;
  count.lanes += countLanes(warp.mask);
  count.divergent += warp.mask != warp.live;
}

void Block::stopGroup(Warp &warp, LaneGroup &group, uint32_t operation) {
  LaneGroup stopped = warp.waiting;
  stopped.block = warp.current;
  stopped.next = operation;
  stopped.lanes = warp.mask;
  stopped.spent = group.spent;
  stopped.looks = group.looks;
  stopped.hadTurn = group.hadTurn;
  group = stopped;
  if (group.wait == Wait::Lanes)
    tryMeet(warp, group);
}

bool Block::waitsForWorld() const {
  for (const Warp &warp : warps)
    for (const LaneGroup &group : warp.groups)
      if (group.wait == Wait::World)
        return true;
  return false;
}

void Block::actInWorld() {
  world_ = true;
  for (unsigned w : order_) {
    Warp &warp = warps[w];
    for (size_t i = 0; i < warp.groups.size() && !abandoned_; ++i) {
      if (warp.groups[i].wait != Wait::World)
        continue;
      LaneGroup &group = warp.groups[i];
      warp.mask = group.lanes;
      warp.current = group.block;
      warp.stop = false;
      warp.resumed = true;
      const Op &op = program().blocks[group.block].ops[group.next];
      op.run(warp, op);
      group.wait = Wait::Nothing;
      group.resumed = false;
      group.looks += std::exchange(warp.looks, 0);
      ++group.next;
      if (warp.stop && warp.request == Warp::Request::Abandon)
        abandoned_ = true;
    }
  }
  world_ = false;
}

/// Stops the running group until what it waits for has come; then its operation runs again. For more about the wait.
LaneGroup &Block::retryAfter(Warp &warp, Wait wait) {
  warp.stop = true;
  warp.request = Warp::Request::Retry;
  warp.waiting = LaneGroup{};
  warp.waiting.wait = wait;
  return warp.waiting;
}

bool Block::inWorld(Warp &warp) {
  if (world_ || launch_->alone)
    return true;
  retryAfter(warp, Wait::World);
  return false;
}

void Block::abandon(Warp &warp) {
  warp.stop = true;
  warp.request = Warp::Request::Abandon;
}

void Block::trap(Warp &warp) {
  // Enough to come to the next use of what the trapped lanes had read or written.
  constexpr uint64_t budgetAfter = 1 << 16;
  for (Warp &other : warps)
    other.budget = std::min(other.budget, budgetAfter);
  trapped_ = true;
  // The barriers that the warp won't reach would have ordered what it did.
  ordering.releaseFence(warp.index);
  exitLanes(warp);
}

void Block::exitLanes(Warp &warp) {
  warp.live &= ~warp.mask;
  for (LaneGroup &group : warp.groups)
    group.lanes &= warp.live;
  ++progress;
  warp.stop = true;
  warp.request = Warp::Request::Branch;
  if (!warp.live && launch_->chip->info.nvidia && !trapped_)
    endNvidiaWarp(warp);
}

} // namespace tilejit::sim
