// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The shadow of shared memory as asynchronous operations use it: bytes of copies that land, operands of products and
// sources of bulk stores. Whether a write comes too early for such a read is told by clocks: the read is an event of an
// agent, and who waits for the operation has seen the agent's clock.

#include "core/Block.h"

namespace tilejit::sim {

namespace {

constexpr uint8_t severalLanes = 255;

} // namespace

void SharedMemory::settleLanes(Block &block, unsigned actor, uint32_t site, const uint64_t *address, LaneMask lanes,
                               uint32_t size, bool async) {
  if (!track_ || !lanes)
    return;
  uint32_t event = block.ordering.record(actor, site, async, false), more = (size - 1) >> shift_;
  forEachLane(lanes, [&](unsigned lane) {
    auto first = static_cast<uint32_t>(address[lane] >> shift_);
    for (uint32_t g = first; g <= first + more; ++g) {
      writeEvent_[g] = event;
      writeLane_[g] = static_cast<uint8_t>(lane);
    }
  });
}

void SharedMemory::readAsync(Block &block, unsigned agent, unsigned warp, unsigned lane, uint32_t event,
                             uint64_t address, uint32_t size, const Access &access) {
  if (!track_)
    return;
  auto first = static_cast<uint32_t>(address >> shift_), last = static_cast<uint32_t>((address + size - 1) >> shift_);
  uint32_t safe = block.ordering.safe(warp), known = 0;
  bool good = false;
  for (uint32_t g = first; g <= last; ++g) {
    uint32_t number = writeEvent_[g];
    if (number != known || g == first) {
      known = number;
      good = isSafeWrite(number, safe) && block.ordering.fencedForAsync(number, warp);
    }
    if (!good) [[unlikely]] {
      uint64_t place[64];
      place[lane & 63] = address;
      unorderedRead(block, {agent, warp, lane, g, event, place, access, nullptr});
    }
  }
  uint32_t *__restrict readEvent = readEvent_[warp].data();
  for (uint32_t g = first; g <= last; ++g)
    readEvent[g] = event;
  uint8_t *__restrict readLane = readLane_[warp].data();
  for (uint32_t g = first; g <= last; ++g)
    readLane[g] = severalLanes;
  lastRead_[warp] = event;
}

} // namespace tilejit::sim
