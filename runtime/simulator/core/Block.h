// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One thread block (work-group), or all thread blocks of a cluster, while they run: warps, shared memory, barriers, and
// the checks that every access goes through. Warps take turns; a block runs until all its warps are done, or until what
// is left waits for other blocks, in which case the launcher lets it do that one access when no other block runs. The
// thread blocks of a cluster are as one here: their warps are told apart by rank where it matters.

#ifndef TILEJIT_SIMULATOR_CORE_BLOCK_H
#define TILEJIT_SIMULATOR_CORE_BLOCK_H

#include "core/Atomics.h"
#include "core/Chip.h"
#include "core/ClusterShape.h"
#include "core/GlobalMemory.h"
#include "core/Ordering.h"
#include "core/Program.h"
#include "core/Reports.h"
#include "core/SharedMemory.h"
#include "core/Warp.h"

#include <memory>
#include <string>
#include <vector>

namespace tilejit::sim {

class BlockShadow;
class GlobalShadow;
struct LaneRow;
struct NvidiaBlockState;

/// What all blocks of a launch share. Constant while blocks run in parallel.
struct LaunchState {
  const Program *program = nullptr;
  const Chip *chip = nullptr;
  const LaunchRequest *request = nullptr;
  Options options;
  GlobalMemory *memory = nullptr;
  GlobalShadow *globalShadow = nullptr; ///< Null: races between blocks are not looked for.
  std::vector<uint64_t> globals;        ///< Address of each module variable.
  std::vector<uint8_t> registerImage;   ///< Constants and arguments in place; what a warp starts with.
  uint32_t sharedBytes = 0;             ///< Static and dynamic.
  uint32_t threads = 0, warps = 0;      ///< Of a thread block.
  ClusterShape clusters;                ///< Which thread blocks run together.
  bool alone = false;                   ///< One of them: nobody else to wait for.
  uint64_t amdArguments = 0;            ///< AMD: address of the kernel arguments, see amd/Launch.h,
  uint64_t amdHidden = 0;               ///< and of the hidden ones, which the dispatch packet and the queue follow.
};

/// Counts of basic blocks are turned into counts of instructions when a launch ends.
struct BlockCount {
  uint64_t executions = 0, lanes = 0, divergent = 0;
};

enum class RunState : uint8_t { Done, Parked, Abandoned };

class Block {
public:
  /// Prepares for a block of a launch; memory is reused.
  void start(const LaunchState &launch, uint64_t number, Counters *siteCounters, BlockCount *blockCounters);
  /// Runs until done or parked.
  RunState run();
  /// Lets each warp that waits for the world do its access. Called while no block runs.
  void actInWorld();
  /// Says of every group what it waits for: nobody can go on (`deadlock`), or a warp used up its instructions.
  void reportStuck(bool deadlock);

  const LaunchState &launch() const { return *launch_; }
  const Program &program() const { return *launch_->program; }
  const Options &options() const { return launch_->options; }
  bool checks(Check check) const { return launch_->options.has(check); }

  uint64_t number = 0;            ///< Of the cluster in the grid; without clusters, of the thread block.
  std::vector<BlockPlace> places; ///< Of the thread blocks, by rank.
  const BlockPlace &blockOf(const Warp &warp) const { return places[warp.rank]; }
  std::vector<Warp> warps;
  SharedMemory shared;
  Ordering ordering;
  Reports reports;
  std::string printed;
  Counters *counters = nullptr;             ///< One for each site,
  BlockCount *blockCounts = nullptr;        ///< and one for each basic block.
  uint64_t progress = 0;                    ///< Counts what others may wait for: stores, arrivals, ends of warps.
  std::shared_ptr<NvidiaBlockState> nvidia; ///< mbarriers, copies in flight.
  std::shared_ptr<BlockShadow> pages;       ///< What it did to global memory.
  PlaceClocks handed;                       ///< What atomics handed over within the block.

  // --- What handlers use -------------------------------------------------------------------------------------------

  /// Checks an access to one space: bounds, alignment, initialisation, order; counts it. Gives the lanes that may go
  /// on. `data`: see SharedMemory::write.
  LaneMask access(Warp &warp, Space space, const uint64_t *address, LaneMask lanes, const Access &access,
                  const uint8_t *data = nullptr);
  /// Makes bytes count as never written: an undefined value was stored there. The address was checked.
  void unwrite(Warp &warp, Space space, unsigned lane, uint64_t address, uint32_t bytes);
  /// Where a checked address lies in host memory.
  uint8_t *at(Warp &warp, Space space, unsigned lane, uint64_t address);

  /// Reports for one lane: "<what> at <where> by warp 1 lane 3 (thread 35) of block (0,0,0)". Each (kind, site, other)
  /// is built once.
  void report(ReportKind kind, uint32_t site, const Warp &warp, unsigned lane, std::string_view what,
              std::string_view hint = {});
  /// The same with an address, described.
  void reportAt(ReportKind kind, uint32_t site, const Warp &warp, unsigned lane, Space space, uint64_t address,
                std::string_view what, std::string_view hint = {});
  std::string who(unsigned warp, unsigned lane) const;
  std::string describe(Space space, uint64_t address) const;

  /// Whether the running operation may touch what other blocks see now. If not, it must return at once: it is executed
  /// again, alone.
  bool inWorld(Warp &warp);
  /// Stops the running group at a block barrier for `threads` threads (0: all). The operation is executed again when
  /// the barrier opens; then Warp::resumed is set and it goes on instead.
  void waitAtBarrier(Warp &warp, uint32_t barrier, uint32_t threads);
  /// Stops the running group at the barrier of its cluster; the operation is executed again when it may have opened.
  static void waitForCluster(Warp &warp);
  /// Counts an arrival that does not wait (barrier.arrive).
  void arriveAtBarrier(Warp &warp, uint32_t barrier, uint32_t threads);
  /// Waits until the lanes of `expected` that are still alive are at this operation. True when they are. `anywhere`:
  /// they may also wait with the same mask at the same instruction elsewhere in the program; it is then executed once
  /// for all of them, with the operands that each lane has where it stands.
  bool meet(Warp &warp, LaneMask expected, bool anywhere = false);
  /// Gives the launch up (misuse after which nothing can be said, budget).
  void abandon(Warp &warp);
  /// Ends the lanes that are active, by a trap or a failed assertion. The launch is given up once the other warps of
  /// the block have run on: races that they show may be why. What lacks because of the trap is not reported.
  void trap(Warp &warp);
  /// Ends the lanes that are active.
  void exitLanes(Warp &warp);
  /// Whether all warps of a thread block have ended.
  bool hasEnded(unsigned rank) const;
  /// Reports an access to shared memory of a thread block that may have ended before.
  void reportReach(uint32_t site, const Warp &warp, unsigned lane, uint64_t address, std::string_view what);
  /// Memory order of a fence instruction of the warp; scopes wider than the block reach other blocks.
  enum class Scope : uint8_t { Warp, Block, Cluster, Device, System };
  void fence(Warp &warp, bool release, bool acquire, Scope scope);

private:
  /// A barrier of one of the thread blocks.
  struct BarrierName {
    unsigned rank = 0;
    uint32_t number = 0;
    auto operator<=>(const BarrierName &) const = default;
  };
  /// A barrier somebody has arrived at.
  struct Arrival {
    BarrierName name;
    uint32_t threads = 0;
    VectorClock clock;
  };

  /// After a trap: whether the report can't be for what the trapped lanes failed to do.
  bool isBelievable(ReportKind kind) const {
    return !trapped_ || kind == ReportKind::Race || kind == ReportKind::Trap || kind == ReportKind::Assert;
  }
  void startWarp(Warp &warp);
  static LaneGroup &retryAfter(Warp &warp, Wait wait);
  bool runWarp(Warp &warp, uint64_t &slice);
  static LaneGroup *select(Warp &warp);
  void takeTurns(LaneGroup &group, uint64_t spent, uint32_t looks) const;
  bool execute(Warp &warp, LaneGroup &group, uint64_t &slice);
  void countEntry(const Warp &warp);
  void stopGroup(Warp &warp, LaneGroup &group, uint32_t operation);
  const Op &operationOf(const LaneGroup &group) const { return program().blocks[group.block].ops[group.next]; }
  void tryMeet(Warp &warp, LaneGroup &group);
  void executeTogether(Warp &warp, std::vector<LaneGroup *> &groups);
  bool meetFailed(Warp &warp);
  bool releaseBarriers();
  bool barrierIsFull(BarrierName barrier, uint32_t needed) const;
  void releaseBarrier(BarrierName barrier);
  bool waitsForWorld() const;
  Allocation *findAllocation(uint64_t address, uint64_t size);
  LaneMask accessGlobal(Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access, const uint8_t *data);
  LaneMask accessShared(Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access, const uint8_t *data);
  LaneMask accessLocal(Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access);
  void checkAlignment(Warp &warp, Space space, const uint64_t *address, LaneMask lanes, const Access &access,
                      uint64_t bits);
  void touchGlobal(Warp &warp, Allocation &allocation, const LaneRow &row, const Access &access);
  void outOfBounds(Warp &warp, Space space, unsigned lane, uint64_t address, const Access &access);
  void checkOwner(Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access);

  const LaunchState *launch_ = nullptr;
  std::vector<Arrival> arrivals_; ///< Of threads that did not wait.
  std::vector<unsigned> order_;   ///< Turns of the warps.
  uint64_t turns_ = 0;            ///< State of the permutation.
  bool abandoned_ = false;
  bool trapped_ = false;
  Allocation *recent_ = nullptr; ///< Of global memory, found last.
  bool world_ = false;           ///< actInWorld is running.
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_BLOCK_H
