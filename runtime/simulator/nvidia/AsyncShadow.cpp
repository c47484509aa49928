// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The shadow of shared memory as asynchronous operations use it: bytes of copies that land, operands of products and
// sources of bulk stores. Whether a write comes too early for such a read is told by clocks: the read is an event of an
// agent, and who waits for the operation has seen the agent's clock.

#include "core/Block.h"

#include <algorithm>
#include <cstring>

namespace tilejit::sim {

void SharedMemory::settleLanes(Block &block, unsigned actor, uint32_t site, const uint64_t *address, LaneMask lanes,
                               uint32_t size, bool async, bool atomic) {
  if (!track_ || !lanes)
    return;
  uint32_t event = block.ordering.record(actor, site, async, atomic);
  uint32_t *writeEvent = writeEvent_.data();
  uint8_t *writeLane = writeLane_.data();
  forEachGranule(lanes, address, size, [&](unsigned lane, uint32_t g) {
    writeEvent[g] = event;
    writeLane[g] = static_cast<uint8_t>(lane);
  });
}

/// Events that were found to come before an operation of a warp, whichever lanes made them. Neighbouring granules often
/// have the same ones.
class SharedMemory::KnownEvents {
public:
  KnownEvents(const Block &block, unsigned warp, bool fenced)
      : ordering_(block.ordering), warp_(warp), fenced_(fenced), safe_(block.ordering.safe(warp)) {}

  bool comeBefore(uint32_t number) {
    uint32_t &known = known_[number % size];
    if (known == number && number)
      return true;
    if (!areBefore(number))
      return false;
    known = number;
    return true;
  }

private:
  static constexpr unsigned size = 16;

  bool areBefore(uint32_t number) const {
    if (number & pendingBit)
      return false;
    // Lanes of the warp itself are told apart elsewhere.
    if (number >= safe_ && (ordering_.event(number).actor == warp_ || !ordering_.ordered(number, 0, warp_, 0)))
      return false;
    return !fenced_ || ordering_.fencedForAsync(number, warp_);
  }

  const Ordering &ordering_;
  unsigned warp_;
  bool fenced_; ///< The asynchronous proxy must see them as well.
  uint32_t safe_;
  uint32_t known_[size] = {};
};

void SharedMemory::readAsync(Block &block, unsigned agent, unsigned warp, unsigned lane, uint32_t event,
                             std::span<const SharedRun> runs, const Access &access) {
  if (!track_ || runs.empty())
    return;
  KnownEvents known(block, warp, true);
  SharedReads &reads = reads_[warp];
  reads.settle();
  for (SharedRun run : runs) {
    uint32_t first = run.address >> shift_, end = ((run.address + run.size - 1) >> shift_) + 1;
    for (uint32_t g = first; g < end; ++g) {
      if (writeEvent_[g] >= start_ && known.comeBefore(writeEvent_[g])) [[likely]]
        continue;
      uint64_t place[64];
      place[lane & 63] = run.address;
      unorderedRead(block, {agent, warp, lane, g, event, place, access, nullptr});
    }
    reads.setRange(first, end, event);
  }
}

void SharedMemory::writeAsync(Block &block, unsigned agent, unsigned warp, unsigned lane, uint64_t address,
                              uint32_t size, const Access &access) {
  if (!track_)
    return;
  auto first = static_cast<uint32_t>(address >> shift_), last = static_cast<uint32_t>((address + size - 1) >> shift_);
  uint32_t event = block.ordering.record(agent, access.site, access.async, access.atomic),
           safe = block.ordering.safe(warp);
  uint64_t place[64];
  place[lane & 63] = address;
  KnownEvents writes(block, warp, access.async), reads(block, warp, false);
  auto touch = [&](uint32_t g) { return Touch{agent, warp, lane, g, event, place, access, nullptr}; };
  for (uint32_t g = first; g <= last; ++g)
    if (writeEvent_[g] >= safe && !writes.comeBefore(writeEvent_[g])) [[unlikely]]
      unorderedWrite(block, touch(g));
  for (unsigned reader = 0; reader < warps_; ++reader) {
    SharedReads &own = reads_[reader];
    if (own.newest() < safe)
      continue;
    own.settle();
    for (uint32_t g = first; g <= last; ++g)
      if (own.event(g) >= safe && !reads.comeBefore(own.event(g))) [[unlikely]]
        writeAfterRead(block, touch(g), reader);
  }
  std::fill(writeEvent_.begin() + first, writeEvent_.begin() + last + 1, event | pendingBit);
  std::memset(writeLane_.data() + first, static_cast<int>(lane), last + 1 - first);
}

} // namespace tilejit::sim
