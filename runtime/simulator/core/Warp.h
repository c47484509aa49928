// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A warp (NVIDIA) or wave (AMD): registers of its lanes and the groups in which they travel. Lanes that took different
// branches are different groups; the group at the lowest place of the program runs, and groups that meet merge. Where
// lanes are independent (NVIDIA) none of them waits for ever while another one spins: core/LaneGroups.cpp.

#ifndef TILEJIT_SIMULATOR_CORE_WARP_H
#define TILEJIT_SIMULATOR_CORE_WARP_H

#include "core/Lanes.h"
#include "core/Program.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tilejit::sim {

/// Warps that run together: 16 blocks of a cluster with 1024 threads each.
inline constexpr unsigned mostWarpsTogether = 512;

class Block;
struct NvidiaWarpState;
struct AmdWarpState;

/// Why a group does not go on.
enum class Wait : uint8_t {
  Nothing,
  Lanes,   ///< For the other lanes that its instruction names.
  Barrier, ///< At a block barrier.
  Cluster, ///< At the barrier of a cluster.
  World,   ///< At an access that other blocks may see: atomics, volatile accesses.
};

/// Lanes of a warp that are at one place.
struct LaneGroup {
  uint32_t block = 0; ///< Basic block,
  uint32_t next = 0;  ///< and the operation in it.
  LaneMask lanes = 0;
  Wait wait = Wait::Nothing;
  uint32_t barrier = 0;      ///< Number of the barrier,
  uint32_t barrierCount = 0; ///< and for how many threads; 0: all of the block.
  LaneMask expected = 0;     ///< Wait::Lanes: who has to come,
  bool anywhere = false;     ///< to this instruction or to the same one at another place.
  bool resumed = false;      ///< What it waited for has come: the operation runs again.
  uint64_t spent = 0;        ///< Instructions since its turn began, while there were other groups,
  uint32_t looks = 0;        ///< and how often it looked whether others had signalled.
  bool hadTurn = false;      ///< It lets the other groups go first.
};

class Warp {
public:
  /// Registers, for handlers: an array of one element a lane.
  template <class T> T *reg(uint32_t offset) { return reinterpret_cast<T *>(registers + offset); }
  /// The value of a register that is the same in all active lanes.
  template <class T> T uniform(uint32_t offset) { return reg<T>(offset)[firstLane(mask)]; }

  // What the running group needs, kept in one place for speed.
  uint8_t *registers = nullptr;
  LaneMask mask = 0; ///< Active lanes.
  bool stop = false; ///< The running operation asks the engine to look at `request`.
  enum class Request : uint8_t {
    None,
    Branch,  ///< Groups changed.
    Retry,   ///< The operation blocks: execute it again when the reason is gone (`waiting`).
    Pause,   ///< The operation is done; let others run (polling).
    Abandon, ///< The launch is given up.
  } request = Request::None;
  LaneGroup waiting;    ///< With Retry: wait, barrier, barrierCount, expected, anywhere.
  bool resumed = false; ///< The operation runs for the second time: what it waited for has come.

  Block *block = nullptr;
  unsigned index = 0; ///< Among all warps that run together,
  unsigned rank = 0;  ///< whose thread block is this one of its cluster,
  unsigned place = 0; ///< and the place in that.
  unsigned width = 32;
  LaneMask live = 0;    ///< Lanes that exist and have not returned.
  uint32_t current = 0; ///< Basic block of the running group,
  uint32_t running = 0; ///< and its index in `groups`.
  std::vector<LaneGroup> groups;
  uint64_t budget = 0; ///< Instructions left.
  uint32_t looks = 0;  ///< Atomic and volatile reads by the running group since it was chosen.

  std::vector<uint8_t> local;        ///< Stacks of the lanes, localBytes each.
  std::vector<uint8_t> localWritten; ///< One flag a byte.
  std::vector<LaneMask> marks;       ///< Of each slot (Program::undefinedSlots): lanes whose value is undefined.

  std::shared_ptr<NvidiaWarpState> nvidia; ///< Asynchronous copies and products in flight.
  std::shared_ptr<AmdWarpState> amd;

  /// Number of a lane's thread in its thread block.
  unsigned thread(unsigned lane) const { return place * width + lane; }
  /// Number of a lane among all that run together; the gaps of incomplete warps count.
  unsigned member(unsigned lane) const { return index * width + lane; }

  std::vector<uint8_t> storage; ///< Behind `registers`, which is aligned to 64 bytes.
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_WARP_H
