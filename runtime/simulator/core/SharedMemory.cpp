// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Shadow of shared memory: the fast paths, and what happens to copies in flight. Reports are made in SharedReports.cpp.

#include "core/SharedMemory.h"

#include "core/Block.h"

#include <algorithm>

namespace tilejit::sim {

namespace {

constexpr uint8_t unwrittenByte = 0xcd;
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
  reads_.assign(warps, SharedReads(tracked));
  reaches_.assign(warps, 0);
}

void SharedMemory::reset(const Ordering &ordering) {
  bool numbersBeganAnew = ordering.nextEvent() < start_;
  start_ = ordering.nextEvent();
  std::fill(bytes_.begin(), bytes_.end(), unwrittenByte);
  std::fill(reaches_.begin(), reaches_.end(), 0);
  for (SharedReads &reads : reads_)
    reads.restart(numbersBeganAnew);
  if (numbersBeganAnew) {
    std::fill(writeEvent_.begin(), writeEvent_.end(), 0);
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

/// Nobody asks for reads before the last barrier of all.
SharedReads &SharedMemory::readsToAppend(const Ordering &ordering, unsigned warp) {
  SharedReads &reads = reads_[warp];
  if (!reads.listEndsBefore(ordering.safe(warp)))
    return reads;
  uint32_t oldest = ordering.safe(warp);
  for (unsigned w = 0; w < warps_; ++w)
    oldest = std::min(oldest, ordering.safe(w));
  if (reads.listEndsBefore(oldest))
    reads.dropList();
  return reads;
}

void SharedMemory::read(Block &block, unsigned actor, unsigned warp, const uint64_t *address, LaneMask lanes,
                        const Access &access) {
  if (!track_ || !lanes)
    return;
  uint32_t event = block.ordering.record(actor, access.site, access.async, access.atomic);
  uint32_t safe = block.ordering.safe(warp), more = (access.size - 1) >> shift_;
  uint32_t *first = readsToAppend(block.ordering, warp).append(event, lanes, more);
  const uint32_t *writeEvent = writeEvent_.data();
  uint32_t start = start_, shift = shift_;
  LaneMask unsafe = 0;
  forEachLane(lanes, [&](unsigned lane) {
    auto granule = static_cast<uint32_t>(address[lane] >> shift);
    *first++ = granule;
    uint32_t oldest = writeEvent[granule], newest = oldest;
    for (uint32_t g = granule + 1; g <= granule + more; ++g) {
      oldest = std::min(oldest, writeEvent[g]);
      newest = std::max(newest, writeEvent[g]);
    }
    if (oldest < start || newest >= safe) [[unlikely]]
      unsafe |= LaneMask(1) << lane;
  });
  if (unsafe) [[unlikely]]
    forEachGranule(unsafe, address, access.size, [&](unsigned lane, uint32_t g) {
      if (!isSafeWrite(writeEvent_[g], safe))
        unorderedRead(block, {actor, warp, lane, g, event, address, access, nullptr});
    });
}

void SharedMemory::write(Block &block, unsigned actor, unsigned warp, const uint64_t *address, LaneMask lanes,
                         const Access &access, const uint8_t *data) {
  if (!track_ || !lanes)
    return;
  uint32_t event = block.ordering.record(actor, access.site, access.async, access.atomic);
  uint32_t safe = block.ordering.safe(warp), stamp = access.pending ? event | pendingBit : event;
  // Only warps that read something since the last barrier can be in the way.
  unsigned readers[mostWarpsTogether], count = 0;
  for (unsigned w = 0; w < warps_; ++w)
    if (reads_[w].newest() >= safe) {
      reads_[w].settle();
      readers[count++] = w;
    }
  uint32_t *writeEvent = writeEvent_.data();
  uint8_t *writeLane = writeLane_.data();
  // Not part of the loops below, which have few registers.
  auto check = [&](unsigned lane, uint32_t g) __attribute__((noinline)) {
    Touch touch{actor, warp, lane, g, event, address, access, data};
    if (writeEvent_[g] >= safe) [[unlikely]]
      unorderedWrite(block, touch);
    for (unsigned i = 0; i < count; ++i)
      if (reads_[readers[i]].event(g) >= safe) [[unlikely]]
        writeAfterRead(block, touch, readers[i]);
  };
  auto put = [=](unsigned lane, uint32_t g) {
    writeEvent[g] = stamp;
    writeLane[g] = static_cast<uint8_t>(lane);
  };
  if (access.atomic) {
    // Atomic writes hide those of other warps before them; who reads plainly must be ordered after all of them.
    block.ordering.markWrite();
    reads_[warp].settle();
    return forEachGranule(lanes, address, access.size, [&](unsigned lane, uint32_t g) {
      check(lane, g);
      if (!isPlainWriteNow(block.ordering, writeEvent[g], actor, safe))
        put(lane, g);
      reads_[warp].set(g, event, lane);
    });
  }
  uint32_t checkFrom = count ? 0 : safe;
  forEachGranule(lanes, address, access.size, [=, &check](unsigned lane, uint32_t g) {
    if (writeEvent[g] >= checkFrom) [[unlikely]]
      check(lane, g);
    put(lane, g);
  });
}

/// Whether a write is a plain one of this actor at its present clock. An atomic does not hide it: atomics of others
/// race with that one.
bool SharedMemory::isPlainWriteNow(const Ordering &ordering, uint32_t last, unsigned actor, uint32_t safe) const {
  if (last < start_ || last < safe || (last & pendingBit))
    return false;
  const AccessEvent &event = ordering.event(last);
  return event.actor == actor && !event.atomic && !event.async && event.clock == ordering.clock(actor);
}

} // namespace tilejit::sim
