// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Shadow of shared memory: the fast paths, and what happens to copies in flight. Reports are made in SharedReports.cpp.

#include "core/SharedMemory.h"

#include "core/Block.h"

#include <algorithm>

namespace tilejit::sim {

namespace {

constexpr uint8_t unwrittenByte = 0xcd;
constexpr uint8_t severalLanes = 255;
// Between the parts of thread blocks: who runs past the end of its own must not find the next one's.
constexpr uint32_t gapBytes = 16 << 10;
// Swizzles permute by bits of the address below this.
constexpr uint32_t partAlignment = 1024;

} // namespace

void SharedMemory::configure(uint32_t bytes, unsigned blocks, uint32_t granule, unsigned warps, bool track) {
  size_ = bytes;
  blocks_ = blocks;
  stride_ = blocks > 1 ? (bytes + gapBytes + partAlignment - 1) / partAlignment * partAlignment : std::max(bytes, 1u);
  uint32_t total = blocks > 1 ? stride_ * blocks : bytes, granules = (total + granule - 1) / granule;
  shift_ = static_cast<uint32_t>(__builtin_ctz(granule));
  warps_ = warps;
  track_ = track;
  // Slack: the widest access may be read past the end by vector code.
  bytes_.assign(total + 64, unwrittenByte);
  uint32_t tracked = track ? granules : 0;
  writeEvent_.assign(tracked, 0);
  writeLane_.assign(tracked, 0);
  readEvent_.assign(warps, std::vector<uint32_t>(tracked, 0));
  readLane_.assign(warps, std::vector<uint8_t>(tracked, 0));
  lastRead_.assign(warps, 0);
  reaches_.assign(warps, 0);
}

void SharedMemory::reset(const Ordering &ordering) {
  bool numbersBeganAnew = ordering.nextEvent() < start_;
  start_ = ordering.nextEvent();
  std::fill(bytes_.begin(), bytes_.end(), unwrittenByte);
  std::fill(lastRead_.begin(), lastRead_.end(), 0);
  std::fill(reaches_.begin(), reaches_.end(), 0);
  if (numbersBeganAnew) {
    std::fill(writeEvent_.begin(), writeEvent_.end(), 0);
    for (std::vector<uint32_t> &events : readEvent_)
      std::fill(events.begin(), events.end(), 0);
  } else {
    // Copies that were in flight when the last block ended must not look like copies of this one.
    for (uint32_t &event : writeEvent_)
      event &= ~pendingBit;
  }
}

void SharedMemory::unwrite(uint64_t address, uint32_t size) {
  // Only whole granules: a part of one may have been written by others.
  if (track_)
    for (uint64_t g = (address + (1u << shift_) - 1) >> shift_; (g + 1) << shift_ <= address + size; ++g)
      writeEvent_[g] = 0;
}

bool SharedMemory::written(uint64_t address, uint32_t size) const {
  if (!track_)
    return true;
  for (uint64_t g = address >> shift_; g <= (address + size - 1) >> shift_; ++g)
    if (writeEvent_[g] < start_ || (writeEvent_[g] & pendingBit))
      return false;
  return true;
}

void SharedMemory::read(Block &block, unsigned actor, unsigned warp, const uint64_t *address, LaneMask lanes,
                        const Access &access) {
  if (!track_ || !lanes)
    return;
  uint32_t event = block.ordering.record(actor, access.site, access.async, access.atomic);
  uint32_t safe = block.ordering.safe(warp);
  uint32_t more = (access.size - 1) >> shift_;
  uint32_t *__restrict readEvent = readEvent_[warp].data();
  uint8_t *__restrict readLane = readLane_[warp].data();
  lastRead_[warp] = event;
  forEachLane(lanes, [&](unsigned lane) {
    auto first = static_cast<uint32_t>(address[lane] >> shift_);
    for (uint32_t g = first; g <= first + more; ++g) {
      if (!isSafeWrite(writeEvent_[g], safe)) [[unlikely]]
        unorderedRead(block, {actor, warp, lane, g, event, address, access, nullptr});
      readLane[g] = readEvent[g] == event ? severalLanes : static_cast<uint8_t>(lane);
      readEvent[g] = event;
    }
  });
}

void SharedMemory::write(Block &block, unsigned actor, unsigned warp, const uint64_t *address, LaneMask lanes,
                         const Access &access, const uint8_t *data) {
  if (!track_ || !lanes)
    return;
  uint32_t event = block.ordering.record(actor, access.site, access.async, access.atomic);
  uint32_t stamp = access.pending ? event | pendingBit : event;
  // Atomic writes hide those of other warps before them; who reads plainly must be ordered after all of them.
  if (access.atomic) {
    block.ordering.markWrite();
    lastRead_[warp] = std::max(lastRead_[warp], event);
  }
  uint32_t safe = block.ordering.safe(warp);
  uint32_t more = (access.size - 1) >> shift_;
  // Only warps that read something since the last barrier can be in the way.
  unsigned readers[mostWarpsTogether], count = 0;
  for (unsigned w = 0; w < warps_; ++w)
    if (lastRead_[w] >= safe)
      readers[count++] = w;
  // An atomic does not hide a plain write of the same warp at the same clock: atomics of others race with that one.
  auto isOwnPlainWrite = [&](uint32_t last) {
    if (last < start_ || last < safe || (last & pendingBit))
      return false;
    const AccessEvent &e = block.ordering.event(last);
    return e.actor == actor && !e.atomic && !e.async && e.clock == block.ordering.clock(actor);
  };
  forEachLane(lanes, [&](unsigned lane) {
    auto first = static_cast<uint32_t>(address[lane] >> shift_);
    for (uint32_t g = first; g <= first + more; ++g) {
      Touch touch{actor, warp, lane, g, event, address, access, data};
      if (writeEvent_[g] >= safe) [[unlikely]]
        unorderedWrite(block, touch);
      for (unsigned i = 0; i < count; ++i)
        if (readEvent_[readers[i]][g] >= safe) [[unlikely]]
          writeAfterRead(block, touch, readers[i]);
      if (!access.atomic || !isOwnPlainWrite(writeEvent_[g])) {
        writeEvent_[g] = stamp;
        writeLane_[g] = static_cast<uint8_t>(lane);
      }
      if (access.atomic) {
        readEvent_[warp][g] = event;
        readLane_[warp][g] = static_cast<uint8_t>(lane);
      }
    }
  });
}

} // namespace tilejit::sim
