// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a wave of an AMD chip has beside its registers: copies from global memory to LDS that are on their way, the mode
// register, and arrivals at the split barrier. Also what the engine calls at the start of launches and blocks.

#ifndef TILEJIT_SIMULATOR_AMD_STATE_H
#define TILEJIT_SIMULATOR_AMD_STATE_H

#include "core/Lanes.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace tilejit::sim {

class Block;
class Warp;
struct LaunchState;

/// One instruction that loads to LDS: its bytes were read when it was issued and land at the wait.
struct LdsCopy {
  uint32_t site = 0;
  uint32_t size = 0; ///< Bytes of a lane.
  LaneMask lanes = 0;
  std::vector<uint64_t> address; ///< In LDS, of each lane.
  std::vector<uint8_t> data;     ///< `size` bytes for each lane.
};

struct AmdWarpState {
  std::deque<LdsCopy> copies; ///< In order of issue.
  uint32_t mode = 0;          ///< MODE register, as s_setreg writes it.
  uint64_t clock = 0;         ///< Last answer of s_memtime.
  uint32_t signals = 0;       ///< Phases of the split barrier that the wave has signalled,
  uint32_t waits = 0;         ///< and waited for.
};

/// Bit of AmdWarpState::mode: conversions to 8-bit floats saturate instead of giving NaN or infinity.
inline constexpr uint32_t modeFp16Overflow = 1u << 23;

/// Makes the states of a block's waves new.
void startAmdBlock(Block &block);
/// Lets copies of the wave land until at most `left` are on their way.
void landLdsCopies(Warp &warp, unsigned left);

/// Puts the kernel arguments, the hidden arguments and the dispatch packet into memory of the device, where pointers of
/// the kernel find them. Needs everything else of the launch to be set.
void fillAmdLaunch(LaunchState &launch);
/// Gives that memory back.
void releaseAmdLaunch(LaunchState &launch);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_STATE_H
