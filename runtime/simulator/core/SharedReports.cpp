// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the shadow of shared memory finds when the fast path does not apply: is the access really unordered, and whose
// fault is it.

#include "core/Block.h"
#include "core/SharedMemory.h"

#include <algorithm>
#include <cstring>

namespace tilejit::sim {

bool SharedMemory::storesSameValue(const Touch &touch) const {
  if (!touch.data)
    return false;
  // Only the bytes of this granule: the rest of the access is compared with its own.
  uint64_t address = touch.address[touch.lane];
  uint64_t from = std::max<uint64_t>(address, uint64_t(touch.granule) << shift_);
  uint64_t to = std::min<uint64_t>(address + touch.access.size, (uint64_t(touch.granule) + 1) << shift_);
  const uint8_t *value = touch.data + size_t(touch.lane) * touch.access.size + (from - address);
  return std::memcmp(bytes_.data() + from, value, to - from) == 0;
}

bool SharedMemory::lanesAgree(const Touch &touch, unsigned other) const {
  if (!touch.data)
    return true;
  uint64_t mine = touch.address[touch.lane], others = touch.address[other];
  uint64_t from = std::max({mine, others, uint64_t(touch.granule) << shift_});
  uint64_t to =
      std::min({mine + touch.access.size, others + touch.access.size, (uint64_t(touch.granule) + 1) << shift_});
  const uint8_t *a = touch.data + size_t(touch.lane) * touch.access.size + (from - mine);
  const uint8_t *b = touch.data + size_t(other) * touch.access.size + (from - others);
  return from >= to || std::memcmp(a, b, to - from) == 0;
}

void SharedMemory::race(Block &block, const Touch &touch, ReportKind kind, std::string_view what, unsigned otherActor,
                        unsigned otherLane, uint32_t otherSite, std::string_view otherDid, std::string_view hint) {
  if (!block.reports.isNew(kind, touch.access.site, otherSite))
    return;
  std::string message(what);
  message += " at " + block.describe(Space::Shared, uint64_t(touch.granule) << shift_) + " by ";
  message += touch.actor >= warps_ ? "an asynchronous operation of " : "";
  message += block.who(touch.warp, touch.lane) + "; " + std::string(otherDid) + " by ";
  message += otherActor >= warps_ ? "an asynchronous operation" : block.who(otherActor, otherLane);
  block.reports.add(kind, touch.access.site, otherSite, std::move(message), std::string(hint));
}

void SharedMemory::unorderedRead(Block &block, const Touch &touch) {
  uint32_t stamp = writeEvent_[touch.granule];
  const Access &access = touch.access;
  if (stamp < start_) {
    if (block.checks(Check::Uninitialized))
      block.reportAt(ReportKind::Uninitialized, access.site, block.warps[touch.warp], touch.lane, Space::Shared,
                     uint64_t(touch.granule) << shift_, "read of shared memory that nobody wrote");
    return;
  }
  uint32_t number = stamp & ~pendingBit;
  const AccessEvent &writer = block.ordering.event(number);
  unsigned lane = writeLane_[touch.granule];
  if (stamp & pendingBit) {
    if (block.checks(Check::Async))
      race(block, touch, ReportKind::Async, "read of a copy that was not waited for", writer.actor, lane, writer.site,
           "copy started", "wait for the copy's group or mbarrier phase before reading");
    return;
  }
  if (!block.ordering.ordered(number, lane, touch.warp, touch.lane)) {
    if (access.atomic && writer.atomic)
      return;
    if (block.checks(Check::Race))
      race(block, touch, ReportKind::Race, "read after an unordered write", writer.actor, lane, writer.site, "written",
           writer.actor == touch.warp ? "put a warp barrier (__syncwarp) between write and read"
                                      : "put a barrier between write and read");
    return;
  }
  if (writer.atomic && !access.atomic)
    readAfterAtomics(block, touch);
  if (access.async && !block.ordering.fencedForAsync(number, touch.warp) && block.checks(Check::Proxy))
    race(block, touch, ReportKind::Proxy, "asynchronous read of a generic write", writer.actor, lane, writer.site,
         "written", "put fence.proxy.async after the write, before the barrier that orders the two");
}

/// A plain read of what several warps changed atomically: only the last of them is known as the writer.
void SharedMemory::readAfterAtomics(Block &block, const Touch &touch) {
  for (unsigned w = 0; w < warps_; ++w) {
    reads_[w].settle();
    uint32_t number = reads_[w].event(touch.granule);
    if (w == touch.warp || number < start_ || number < block.ordering.safe(touch.warp))
      continue;
    const AccessEvent &event = block.ordering.event(number);
    unsigned lane = reads_[w].lane(touch.granule);
    if (!event.write || block.ordering.ordered(number, lane, touch.warp, touch.lane))
      continue;
    if (block.checks(Check::Race))
      race(block, touch, ReportKind::Race, "read after an unordered atomic", w, lane, event.site, "written",
           "put a barrier between the atomics and the read");
    return;
  }
}

void SharedMemory::unorderedWrite(Block &block, const Touch &touch) {
  uint32_t stamp = writeEvent_[touch.granule], number = stamp & ~pendingBit;
  if (stamp < start_)
    return;
  const Access &access = touch.access;
  unsigned lane = writeLane_[touch.granule];
  if (number == touch.event) {
    // Lanes of one instruction: all but one of the values are lost.
    if (!access.atomic && !lanesAgree(touch, lane) && block.checks(Check::Race))
      race(block, touch, ReportKind::Race, "lanes of one store write different values", touch.warp, lane, access.site,
           "also written", "let one lane store, or give each lane its own place");
    return;
  }
  const AccessEvent &writer = block.ordering.event(number);
  if (stamp & pendingBit) {
    if (!(access.atomic && writer.atomic) && block.checks(Check::Async))
      race(block, touch, ReportKind::Async, "write over a copy in flight", writer.actor, lane, writer.site,
           "copy started", "wait for the copy's group or mbarrier phase before writing");
    return;
  }
  if (!block.ordering.ordered(number, lane, touch.warp, touch.lane)) {
    if ((access.atomic && writer.atomic) || storesSameValue(touch))
      return;
    if (block.checks(Check::Race))
      race(block, touch, ReportKind::Race, "write after an unordered write", writer.actor, lane, writer.site, "written",
           writer.actor == touch.warp ? "put a warp barrier (__syncwarp) between the writes"
                                      : "put a barrier between the writes");
    return;
  }
  if (access.async && !block.ordering.fencedForAsync(number, touch.warp) && block.checks(Check::Proxy))
    race(block, touch, ReportKind::Proxy, "asynchronous write over a generic write", writer.actor, lane, writer.site,
         "written", "put fence.proxy.async after the write, before the barrier that orders the two");
}

void SharedMemory::writeAfterRead(Block &block, const Touch &touch, unsigned reader) {
  uint32_t number = reads_[reader].event(touch.granule);
  unsigned lane = reads_[reader].lane(touch.granule);
  if (number < start_ || number == touch.event || block.ordering.ordered(number, lane, touch.warp, touch.lane))
    return;
  const AccessEvent &event = block.ordering.event(number);
  if (event.actor >= warps_) {
    if (block.checks(Check::Async))
      race(block, touch, ReportKind::Async, "write over what an asynchronous operation may still read", event.actor,
           255, event.site, "operation started",
           "wait for the operation (wgmma.wait_group, cp.async.bulk.wait_group.read) before its operand is written");
    return;
  }
  if ((touch.access.atomic && event.atomic) || storesSameValue(touch) || !block.checks(Check::Race))
    return;
  race(block, touch, ReportKind::Race, "write after an unordered read", reader, lane, event.site, "read",
       reader == touch.warp ? "put a warp barrier (__syncwarp) between read and write"
                            : "put a barrier between read and write");
}

} // namespace tilejit::sim
