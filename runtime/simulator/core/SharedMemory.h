// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Shared memory (LDS) of a block, or of all blocks of a cluster with gaps between them, and its shadow: who wrote and
// who read each granule last. A granule is as large as the smallest access of the kernel allows (1 to 16 bytes), so
// that nothing is reported for neighbours. The fast path is one comparison a granule: was the last write (were the last
// reads) before the last block barrier.

#ifndef TILEJIT_SIMULATOR_CORE_SHAREDMEMORY_H
#define TILEJIT_SIMULATOR_CORE_SHAREDMEMORY_H

#include "core/Ordering.h"
#include "core/SharedReads.h"
#include "core/Warp.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tilejit::sim {

/// A warp-wide access. `lane` numbers and addresses come beside it.
struct Access {
  uint32_t size = 0;      ///< Bytes of a lane.
  uint32_t alignment = 1; ///< As the instruction states it.
  uint32_t site = 0;
  bool write = false;
  bool atomic = false;         ///< Atomic read-modify-write or volatile.
  bool narrow = false;         ///< Atomic for the threads of the block only.
  bool async = false;          ///< Through the asynchronous proxy (bulk copies, operands of wgmma).
  bool marksUndefined = false; ///< Local memory: what was not written becomes an undefined value, not a report.
  bool pending = false;        ///< A copy that lands later: until settleLanes() nobody may touch its bytes.
  bool copy = false;           ///< Bytes that nobody wrote are no mistake: the copy is unwritten too.
  bool own = false;            ///< Names shared memory of its own thread block (shared::cta).
};

/// Contiguous bytes.
struct SharedRun {
  uint32_t address = 0, size = 0;
};

class SharedMemory {
public:
  /// For the blocks of a launch: `bytes` for each of so many that run together. `track`: keep the shadow.
  void configure(uint32_t bytes, unsigned blocks, uint32_t granule, unsigned warps, bool track);
  /// For a new block: nothing is written, all bytes hold a pattern. `ordering` was reset before.
  void reset(const Ordering &ordering);

  uint8_t *data() { return bytes_.data(); }
  /// Bytes of one thread block.
  uint32_t size() const { return size_; }
  unsigned blocks() const { return blocks_; }
  /// Where the part of a thread block begins; whose part an address is in, and how far.
  uint32_t base(unsigned rank) const { return rank * stride_; }
  unsigned ownerOf(uint64_t address) const { return blocks_ > 1 ? static_cast<unsigned>(address / stride_) : 0; }
  uint64_t offsetOf(uint64_t address) const { return blocks_ > 1 ? address % stride_ : address; }
  /// Whether bytes exist, all in one thread block's part.
  bool holds(uint64_t address, uint64_t bytes) const {
    uint64_t offset = offsetOf(address);
    return address < uint64_t(stride_) * blocks_ && bytes <= size_ && offset <= size_ - bytes;
  }

  /// Checks and records an access of one warp, or of an agent on behalf of a warp; addresses are in bounds.
  /// `data`, for plain writes: what the lanes are about to store, `size` bytes for each lane number (null: not known).
  void read(Block &block, unsigned actor, unsigned warp, const uint64_t *address, LaneMask lanes, const Access &access);
  void write(Block &block, unsigned actor, unsigned warp, const uint64_t *address, LaneMask lanes, const Access &access,
             const uint8_t *data);
  /// Lanes of a copy that was pending have landed, `size` bytes each: they belong to one new event of the actor.
  void settleLanes(Block &block, unsigned actor, uint32_t site, const uint64_t *address, LaneMask lanes, uint32_t size,
                   bool async, bool atomic = false);
  /// Reads through the asynchronous proxy, as `event` of an agent on behalf of a lane of a warp. Writes of the generic
  /// proxy must have been fenced, even those before the last block barrier.
  void readAsync(Block &block, unsigned agent, unsigned warp, unsigned lane, uint32_t event,
                 std::span<const SharedRun> runs, const Access &access);
  /// A write of contiguous bytes that will be pending; with access.async, through the asynchronous proxy.
  void writeAsync(Block &block, unsigned agent, unsigned warp, unsigned lane, uint64_t address, uint32_t size,
                  const Access &access);
  /// A warp accesses the part of another thread block.
  void noteReach(unsigned warp) { reaches_[warp] = 1; }
  /// A thread block has ended, of whose past `seen` is known: reports accesses of others to its part that need not have
  /// come before.
  void checkReaches(Block &block, unsigned rank, const VectorClock &seen);
  /// Makes bytes count as never written.
  void unwrite(uint64_t address, uint32_t size);
  /// Whether all bytes were written (landed copies count, pending ones do not).
  bool written(uint64_t address, uint32_t size) const;

private:
  static constexpr uint32_t pendingBit = 1u << 31;
  /// One granule of an access, for the slow paths.
  struct Touch {
    unsigned actor, warp, lane;
    uint32_t granule, event;
    const uint64_t *address; ///< Of all lanes.
    const Access &access;
    const uint8_t *data;
  };

  bool isSafeWrite(uint32_t event, uint32_t safe) const { return event - start_ < safe - start_; }
  class KnownEvents;
  bool isPlainWriteNow(const Ordering &ordering, uint32_t last, unsigned actor, uint32_t safe) const;
  SharedReads &readsToAppend(const Ordering &ordering, unsigned warp);
  template <class F> void forEachGranule(LaneMask lanes, const uint64_t *address, uint32_t size, F f) const {
    uint32_t more = (size - 1) >> shift_, shift = shift_;
    forEachLane(lanes, [&](unsigned lane) {
      auto first = static_cast<uint32_t>(address[lane] >> shift);
      for (uint32_t g = first; g <= first + more; ++g)
        f(lane, g);
    });
  }
  void unorderedRead(Block &block, const Touch &touch);
  void readAfterAtomics(Block &block, const Touch &touch);
  void unorderedWrite(Block &block, const Touch &touch);
  void writeAfterRead(Block &block, const Touch &touch, unsigned reader);
  bool storesSameValue(const Touch &touch) const;
  bool lanesAgree(const Touch &touch, unsigned other) const;
  void race(Block &block, const Touch &touch, ReportKind kind, std::string_view what, unsigned otherActor,
            unsigned otherLane, uint32_t otherSite, std::string_view otherDid, std::string_view hint);

  uint32_t size_ = 0, stride_ = 1, shift_ = 2;
  unsigned blocks_ = 1;
  uint32_t start_ = 1; ///< First event of this block.
  unsigned warps_ = 0;
  bool track_ = true;
  std::vector<uint8_t> bytes_;
  std::vector<uint32_t> writeEvent_; ///< Below start_: never; pendingBit: an asynchronous copy in flight.
  std::vector<uint8_t> writeLane_;
  std::vector<SharedReads> reads_; ///< Of each warp.
  std::vector<uint8_t> reaches_;   ///< Warps that accessed the part of another thread block.
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_SHAREDMEMORY_H
