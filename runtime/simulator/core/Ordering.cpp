// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Vector clocks of a block.

#include "core/Ordering.h"

#include <algorithm>

namespace tilejit::sim {

void joinInto(VectorClock &into, const VectorClock &from) {
  if (into.size() < from.size())
    into.resize(from.size(), 0);
  for (size_t i = 0; i < from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

void Ordering::reset(unsigned warps, bool lockStep) {
  constexpr uint32_t mostEvents = 1u << 30;
  uint32_t first = nextEvent() < mostEvents ? nextEvent() : 1;
  warps_ = warps;
  lockStep_ = lockStep;
  clock_.assign(warps, 1);
  seen_.assign(warps, VectorClock(warps, 0));
  proxySeen_ = seen_;
  released_ = seen_;
  offered_ = seen_;
  releasedAt_.assign(warps, first);
  offeredSafe_.assign(warps, first);
  safe_.assign(warps, first);
  laneSync_.assign(warps, std::vector<uint32_t>(64, 0));
  laneSeen_ = laneSync_;
  events_.clear();
  agentEvents_.clear();
  firstEvent_ = first;
}

unsigned Ordering::addAgent() {
  clock_.push_back(1);
  for (std::vector<VectorClock> *table : {&seen_, &proxySeen_, &released_, &offered_})
    for (VectorClock &clock : *table)
      clock.push_back(0);
  seen_.emplace_back(clock_.size(), 0);
  proxySeen_.emplace_back(clock_.size(), 0);
  return actors() - 1;
}

uint32_t Ordering::record(unsigned actor, uint32_t site, bool async, bool atomic) {
  uint32_t number = nextEvent();
  events_.push_back({clock_[actor], site, static_cast<uint16_t>(actor), async, atomic, false});
  if (actor >= warps_)
    agentEvents_.push_back(number);
  return number;
}

bool Ordering::ordered(uint32_t number, unsigned lane, unsigned warp, unsigned byLane) const {
  if (number < safe_[warp])
    return true;
  const AccessEvent &e = event(number);
  if (e.actor != warp)
    return e.clock <= seen_[warp][e.actor];
  if (lockStep_ || lane == byLane)
    return true;
  if (byLane < 64 && e.clock <= laneSeen_[warp][byLane])
    return true;
  const std::vector<uint32_t> &sync = laneSync_[warp];
  if (lane < 64 && byLane < 64)
    return e.clock <= std::min(sync[lane], sync[byLane]);
  return e.clock <= *std::min_element(sync.begin(), sync.end());
}

bool Ordering::fencedForAsync(uint32_t number, unsigned warp) const {
  if (number < firstEvent_)
    return true;
  const AccessEvent &e = event(number);
  return e.async || e.actor >= warps_ || e.clock <= proxySeen_[warp][e.actor];
}

void Ordering::release(unsigned actor) {
  seen_[actor][actor] = clock_[actor];
  ++clock_[actor];
}

void Ordering::acquire(unsigned warp, const VectorClock &from, LaneMask lanes) {
  joinInto(seen_[warp], from);
  seen_[warp].resize(clock_.size(), 0);
  if (uint32_t own = lockStep_ || warp >= from.size() ? 0 : from[warp])
    forEachLane(lanes, [&](unsigned l) { laneSeen_[warp][l] = std::max(laneSeen_[warp][l], own); });
}

void Ordering::syncLanes(unsigned warp, LaneMask lanes) {
  forEachLane(lanes, [&](unsigned l) { laneSync_[warp][l] = clock_[warp]; });
  release(warp);
}

void Ordering::barrier(const std::vector<unsigned> &warps, bool all) {
  VectorClock joined(clock_.size(), 0), fenced(clock_.size(), 0);
  // Events that everybody has seen after this: all of them, unless a wave made no release fence after its last access
  // or a copy landed that nobody waited for.
  uint32_t covered = nextEvent();
  for (unsigned w : warps) {
    seen_[w][w] = clock_[w];
    joinInto(joined, lockStep_ ? released_[w] : seen_[w]);
    joinInto(fenced, proxySeen_[w]);
    // The first access of the wave after its fence; usually there is none.
    for (uint32_t number = std::max(releasedAt_[w], firstEvent_); lockStep_ && number < covered; ++number)
      if (event(number).actor == w)
        covered = number;
  }
  size_t open = 0;
  for (uint32_t number : agentEvents_)
    if (event(number).clock > joined[event(number).actor]) {
      covered = std::min(covered, number);
      agentEvents_[open++] = number;
    }
  if (all)
    agentEvents_.resize(open);
  for (unsigned w : warps) {
    joinInto(lockStep_ ? offered_[w] : seen_[w], joined);
    joinInto(proxySeen_[w], fenced);
    std::fill(laneSync_[w].begin(), laneSync_[w].end(), clock_[w]);
    ++clock_[w];
    if (all)
      (lockStep_ ? offeredSafe_ : safe_)[w] = covered;
  }
  if (all)
    rebase();
}

void Ordering::rebase() {
  uint32_t oldest = nextEvent();
  for (unsigned w = 0; w < warps_; ++w)
    oldest = std::min({oldest, safe_[w]});
  if (!agentEvents_.empty())
    oldest = std::min(oldest, agentEvents_.front());
  // Sites of old events are still wanted for messages about copies in flight: keep a tail.
  constexpr uint32_t kept = 4096;
  if (oldest > firstEvent_ + 4 * kept) {
    uint32_t drop = oldest - firstEvent_ - kept;
    events_.erase(events_.begin(), events_.begin() + drop);
    firstEvent_ += drop;
  }
}

void Ordering::releaseFence(unsigned warp) {
  release(warp);
  released_[warp] = seen_[warp];
  releasedAt_[warp] = nextEvent();
}

void Ordering::acquireFence(unsigned warp, LaneMask lanes) {
  acquire(warp, offered_[warp], lanes);
  safe_[warp] = std::max(safe_[warp], offeredSafe_[warp]);
}

bool Ordering::hasUnseenRelease(unsigned warp) const {
  for (unsigned w = 0; w < warps_; ++w)
    if (seen_[w][warp] < released_[warp][warp])
      return true;
  const std::vector<uint32_t> &sync = laneSync_[warp];
  return !lockStep_ && released_[warp][warp] > *std::min_element(sync.begin(), sync.end());
}

void Ordering::offer(unsigned warp, const VectorClock &from) { joinInto(offered_[warp], from); }

void Ordering::proxyFence(unsigned warp) {
  release(warp);
  joinInto(proxySeen_[warp], seen_[warp]);
}

} // namespace tilejit::sim
