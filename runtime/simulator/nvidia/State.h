// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What blocks and warps of an NVIDIA chip have beside registers and memory: mbarriers, copies on their way, products in
// flight. Also what the engine calls when a block starts, stands still, and ends. Copies land as late as they may: at
// the wait that demands it, or when nothing else can go on.

#ifndef TILEJIT_SIMULATOR_NVIDIA_STATE_H
#define TILEJIT_SIMULATOR_NVIDIA_STATE_H

#include "core/Ordering.h"
#include "core/Warp.h"
#include "nvidia/BarrierVotes.h"
#include "nvidia/ClusterBarrier.h"
#include "tilejit/Simulator/TensorMap.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace tilejit::sim {

class Block;

inline constexpr unsigned noAgent = ~0u;

/// One mbarrier object. Its bytes in shared memory hold a seal, by which a store over it is noticed.
struct Mbarrier {
  uint32_t address = 0, site = 0;         ///< Where it is, and the instruction that initialised it,
  unsigned warp = 0;                      ///< by which warp,
  uint32_t event = 0;                     ///< in which access.
  bool fenced = false;                    ///< The asynchronous proxy sees the initialisation.
  uint32_t expected = 0;                  ///< Arrivals of a phase.
  uint32_t pending = 0;                   ///< Arrivals that the present phase waits for.
  int64_t bytes = 0;                      ///< Bytes that it waits for; negative: they came before they were announced.
  uint64_t phase = 0;                     ///< Phases completed.
  unsigned agent = noAgent;               ///< Actor of the copies that signal it.
  uint32_t inFlight = 0;                  ///< Copies that will.
  std::bitset<mostWarpsTogether> knownTo; ///< Warps that are known to come after the initialisation.
  VectorClock clock, proxy;    ///< What those who arrived in this phase have done; and what their proxy fences cover.
  VectorClock done, doneProxy; ///< The same for the phases completed.
};

/// One cp.async instruction of a warp. Source bytes are read when it lands.
struct LaneCopy {
  uint32_t site = 0, size = 0; ///< Bytes at the destination of each lane.
  LaneMask lanes = 0;          ///< Not landed.
  uint64_t sequence = 0;
  std::array<uint64_t, 32> to{}, from{};
  std::array<uint8_t, 32> bytes{}; ///< Of the source; the rest is zero.
};

/// One piece of a bulk copy that is contiguous in both memories (apart from the swizzle).
struct CopyRun {
  uint32_t offset = 0; ///< In the packed box, before the swizzle.
  uint32_t bytes = 0;
  uint64_t global = 0; ///< 0: beyond the tensor; loads fill it, stores leave it out.
};

/// How an asynchronous copy combines what it carries with what is there.
enum class CopyReduction : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };
/// Of what elements; for bit patterns U32 and U64.
struct ReductionSpec {
  CopyReduction operation = CopyReduction::None;
  TensorMapType type = TensorMapType::U32;
};

/// One bulk copy, of bytes or of the box of a tensor; or what a lane stores asynchronously (st.async, red.async), which
/// does not go through the asynchronous proxy.
struct BulkCopy {
  enum class Way : uint8_t { GlobalToShared, SharedToGlobal, SharedToShared, LaneToShared };
  Way way = Way::GlobalToShared;
  uint32_t site = 0;
  unsigned warp = 0, lane = 0;
  LaneMask lanes = 0;             ///< 1 << lane, while it is on its way.
  uint32_t shared = 0, bytes = 0; ///< Its place in shared memory.
  uint32_t from = 0;              ///< SharedToShared: the source.
  uint32_t mbarrier = 0;          ///< Whom it signals; of loads.
  uint8_t swizzle = 0;            ///< 0: none; 1, 2, 3: 32, 64, 128 bytes.
  uint64_t fill = 0;              ///< Pattern of elements beyond the tensor,
  uint8_t fillBytes = 1;          ///< so many bytes long.
  std::vector<CopyRun> runs;
  std::vector<uint8_t> data;          ///< Of stores, when the source has been read; of lanes.
  ReductionSpec reduction;            ///< Of lanes.
  bool read = false, written = false; ///< Of stores: the source was read, the destination written.
};

/// Copies that were issued, by the groups in which lanes committed them.
template <class Copy> struct CopyGroups {
  struct Group {
    LaneMask lanes = 0; ///< Who committed it.
    std::vector<Copy> copies;
    VectorClock clock; ///< Of stores: the reads of the source.
  };
  std::vector<Copy> open;
  std::deque<Group> groups; ///< Oldest first.
  std::vector<Copy> spare;  ///< Empty: memory for the next group.
};

/// What a warp has on its way.
struct NvidiaWarpState {
  CopyGroups<LaneCopy> copies;
  uint64_t copySequence = 0;
  VectorClock landed; ///< Agents that landed copies of this warp for an mbarrier.

  CopyGroups<BulkCopy> stores;
  unsigned storeAgent = noAgent; ///< Actor of the reads of bulk stores.
  std::vector<uint32_t> polled;  ///< mbarriers that the last wait of the warp found incomplete.

  // Products (wgmma). Numbers of groups begin at 1.
  unsigned productAgent = noAgent;
  uint64_t openGroup = 1;            ///< Number of the group that the next commit closes.
  uint64_t doneGroups = 0;           ///< Groups up to this one were waited for.
  std::deque<uint32_t> groupClocks;  ///< Of the product agent, for each committed group not waited for.
  bool fencedProducts = false;       ///< Executed a wgmma.fence.
  uint64_t products = 0, digest = 0; ///< Products so far, and which: must agree within a warpgroup.
  uint32_t productSite = 0;          ///< The last one.
  std::vector<uint64_t> inFlight;    ///< Of each tracked register: group of the product that writes it.
  std::vector<uint8_t> touched;      ///< Of each tracked register: written otherwise since the last wgmma.fence.
};

/// cp.async.mbarrier.arrive: an arrival when the copies before it have landed.
struct DeferredArrival {
  uint32_t site = 0;
  unsigned warp = 0;
  LaneMask lanes = 0;
  uint64_t sequence = 0; ///< Copies of the lanes with smaller numbers come first.
  std::array<uint32_t, 32> mbarrier{};
};

/// What a block has on its way.
struct NvidiaBlockState {
  std::vector<BarrierVotes> votes; ///< At reducing barriers; of each block of the cluster.
  ClusterBarrier clusterBarrier;
  std::map<uint32_t, Mbarrier> mbarriers; ///< By address.
  std::vector<BulkCopy> loads;            ///< In order of issue.
  std::vector<DeferredArrival> arrivals;
  /// Tensor maps that the block changed, by generic address: whether the fence that must follow was made.
  std::map<uint64_t, bool> changedMaps;
};

/// A block starts: makes its states and those of its warps new.
void startNvidiaBlock(Block &block);
void startClusterBarrier(Block &block);
/// Lets those go on who wait at the barrier of the cluster and for whom all have arrived; whether there were any.
bool openClusterBarrier(Block &block);
/// Nobody can do more than poll: lets something land, what is polled for first. Whether something did.
bool landCopies(Block &block);
/// The last lanes of a warp, or all warps, have ended: what is still on its way is brought to an end, and reported
/// where that is a fault.
void endNvidiaWarp(Warp &warp);
void endNvidiaBlock(Block &block);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_STATE_H
