// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// mbarrier objects in shared memory: phases that complete when all announced arrivals and bytes have come. What their
// instructions and the copies that signal them have in common. Misuse is reported, and then done as well as it can be.

#ifndef TILEJIT_SIMULATOR_NVIDIA_MBARRIER_H
#define TILEJIT_SIMULATOR_NVIDIA_MBARRIER_H

#include "core/GlobalMemory.h"
#include "nvidia/State.h"

#include <cstdint>
#include <string_view>

namespace tilejit::sim {

class Rules;

/// Most arrivals and most bytes that an mbarrier counts.
inline constexpr uint32_t mostArrivals = (1u << 20) - 1;
inline constexpr int64_t mostBytes = (1 << 20) - 1;

/// The address in shared memory of a pointer to it, in the shared or the generic address space.
inline uint32_t sharedOffset(uint64_t pointer) {
  uint64_t offset = spaceOf(pointer) == Space::Shared ? pointer - sharedWindow : pointer;
  return offset < ~0u ? static_cast<uint32_t>(offset) : ~0u;
}

/// The mbarrier at an address, as a lane uses it: it must be aligned, initialised, known to the warp and untouched.
/// Null after a report. `byCopy`: the lane only names it to a copy, so that who has seen the copy land needs to know no
/// more of the lane.
Mbarrier *findMbarrier(Warp &warp, unsigned lane, uint32_t site, uint32_t address, bool byCopy = false);
/// mbarrier.init and mbarrier.inval of a lane.
void initMbarrier(Warp &warp, unsigned lane, uint32_t site, uint32_t address, uint32_t count);
void invalidateMbarrier(Warp &warp, unsigned lane, uint32_t site, uint32_t address);
/// The actor whose copies signal it.
unsigned agentOf(Block &block, Mbarrier &barrier);
/// Arrivals of a lane at the present phase.
void arriveAt(Block &block, Mbarrier &barrier, const Warp &warp, unsigned lane, uint32_t site, uint32_t count);
/// The barrier will have seen all that the actor did until now.
void publishAt(Block &block, Mbarrier &barrier, unsigned actor);
/// Bytes come (or, negative, are announced).
void countBytes(Block &block, Mbarrier &barrier, const Warp &warp, unsigned lane, uint32_t site, int64_t come);
/// The asynchronous proxy sees initialisations that come before what the warp does now.
void fenceInitialisations(Warp &warp, bool ownOnly);
/// Reports an mbarrier whose initialisation the asynchronous proxy may not see.
void checkInitFenced(Warp &warp, unsigned lane, uint32_t site, Mbarrier &barrier);

void addNvidiaMbarrierRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_MBARRIER_H
