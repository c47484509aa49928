// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which memory accesses of a block happen before which: vector clocks of its actors. Actors are the warps and, from
// `warps` on, asynchronous agents (the copy engine behind one mbarrier). An access is recorded as an event of its actor
// at the actor's present clock; a release makes the clock visible and starts a new one; who acquires it has seen all
// events up to that clock.
//
// Source of the method: M. Flanagan, S. Freund, "FastTrack: efficient and precise dynamic race detection" (PLDI 2009),
// with one clock for all lanes of a warp, which are told apart by lane numbers and warp barriers.

#ifndef TILEJIT_SIMULATOR_CORE_ORDERING_H
#define TILEJIT_SIMULATOR_CORE_ORDERING_H

#include "core/Lanes.h"

#include <cstdint>
#include <vector>

namespace tilejit::sim {

using VectorClock = std::vector<uint32_t>;
void joinInto(VectorClock &into, const VectorClock &from);

/// One warp-wide access to shared memory. Numbered from 1; 0 is "never".
struct AccessEvent {
  uint32_t clock = 0, site = 0;
  uint16_t actor = 0;
  bool async = false;  ///< Through the asynchronous proxy.
  bool atomic = false; ///< Atomic or volatile: does not race with others of its kind.
  bool write = false;  ///< An atomic one that writes.
};

class Ordering {
public:
  /// A block of `warps` warps; `lockStep`: lanes of a wave order each other. Numbers of events go on from the last
  /// block (until they begin anew), so that what keeps them need not be cleared.
  void reset(unsigned warps, bool lockStep);

  unsigned warps() const { return warps_; }
  unsigned actors() const { return static_cast<unsigned>(clock_.size()); }
  /// Adds an asynchronous agent; its number.
  unsigned addAgent();

  /// Records an access of an actor now; its number.
  uint32_t record(unsigned actor, uint32_t site, bool async, bool atomic);
  /// The access that was recorded last is an atomic write.
  void markWrite() { events_.back().write = true; }
  const AccessEvent &event(uint32_t number) const { return events_[number - firstEvent_]; }
  uint32_t nextEvent() const { return firstEvent_ + static_cast<uint32_t>(events_.size()); }
  /// Events below this are ordered before whatever `warp` does now.
  uint32_t safe(unsigned warp) const { return safe_[warp]; }

  /// Whether an event by `lane` (255: several) of its actor is ordered before an access of `warp`, `byLane` now.
  bool ordered(uint32_t number, unsigned lane, unsigned warp, unsigned byLane) const;
  /// Whether the asynchronous proxy sees a generic write, for an access on behalf of `warp`.
  bool fencedForAsync(uint32_t number, unsigned warp) const;

  VectorClock &seen(unsigned actor) { return seen_[actor]; }
  const VectorClock &seen(unsigned actor) const { return seen_[actor]; }
  VectorClock &proxySeen(unsigned actor) { return proxySeen_[actor]; }
  uint32_t clock(unsigned actor) const { return clock_[actor]; }
  /// Makes everything that the actor did visible in its own entry of seen() and starts a new clock.
  void release(unsigned actor);
  /// Makes what `from` holds ordered before what the warp does from now on; what it holds of the warp itself, before
  /// what `lanes` do.
  void acquire(unsigned warp, const VectorClock &from, LaneMask lanes);

  /// The lanes of a warp met at a warp barrier that orders memory.
  void syncLanes(unsigned warp, LaneMask lanes);
  /// The warps met at a block barrier; `all`: they are all live warps of the block.
  void barrier(const std::vector<unsigned> &warps, bool all);
  /// Fences of a warp. On AMD a barrier orders only what was released before it, for those who acquire after it.
  void releaseFence(unsigned warp);
  void acquireFence(unsigned warp, LaneMask lanes);
  void proxyFence(unsigned warp);
  /// What the warp's last release fence covers.
  const VectorClock &releasedClock(unsigned warp) const { return released_[warp]; }
  /// Whether some warp, or some lane of the warp itself, has not seen all of that.
  bool hasUnseenRelease(unsigned warp) const;
  /// A relaxed atomic showed the warp `from`: it has seen it after its next acquire fence.
  void offer(unsigned warp, const VectorClock &from);

private:
  void rebase();

  unsigned warps_ = 0;
  bool lockStep_ = false;
  std::vector<uint32_t> clock_;        ///< Of each actor.
  std::vector<VectorClock> seen_;      ///< seen_[a][v]: clock of v up to which a has seen.
  std::vector<VectorClock> proxySeen_; ///< The same for writes that a proxy fence covered.
  std::vector<VectorClock> released_;  ///< seen_ at the last release fence (AMD).
  std::vector<VectorClock> offered_;   ///< What barriers and relaxed atomics showed, until an acquire fence.
  std::vector<uint32_t> releasedAt_;   ///< Event number at the last release fence,
  std::vector<uint32_t> offeredSafe_;  ///< and what will be safe after the acquire fence.
  std::vector<uint32_t> safe_;
  std::vector<std::vector<uint32_t>> laneSync_; ///< Of each warp and lane: clock of the last warp barrier,
  std::vector<std::vector<uint32_t>> laneSeen_; ///< and up to which it acquired what others of its warp released.
  std::vector<AccessEvent> events_;
  std::vector<uint32_t> agentEvents_; ///< Events of agents, in order, that some warp may not have seen.
  uint32_t firstEvent_ = 1;
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_ORDERING_H
