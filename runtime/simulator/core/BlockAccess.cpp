// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What every access goes through: bounds, alignment, initialisation, counters, order. And the words of reports.

#include "core/Block.h"

#include "core/GlobalShadow.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tilejit::sim {

namespace {

/// Smallest and largest address of the lanes, and whether they follow each other without gaps from lane to lane.
struct Extent {
  uint64_t low = ~0ull, high = 0;
  bool contiguous = true, ascending = true;
};

/// For all lanes of a warp: loops that become vector code.
template <unsigned W> Extent extentOfAll(const uint64_t *address, uint32_t size) {
  Extent extent;
  uint64_t gaps = 0;
  bool falls = false;
  for (unsigned l = 0; l < W; ++l) {
    extent.low = std::min(extent.low, address[l]);
    extent.high = std::max(extent.high, address[l]);
    gaps |= (address[l] - address[0]) ^ (uint64_t(l) * size);
  }
  for (unsigned l = 1; l < W; ++l)
    falls |= address[l] < address[l - 1];
  extent.contiguous = gaps == 0;
  extent.ascending = !falls;
  return extent;
}

Extent extentOf(const uint64_t *address, LaneMask lanes, uint32_t size) {
  if (lanes == allLanes<32>)
    return extentOfAll<32>(address, size);
  if (lanes == allLanes<64>)
    return extentOfAll<64>(address, size);
  Extent extent;
  uint64_t previous = 0;
  bool first = true;
  forEachLane(lanes, [&](unsigned l) {
    uint64_t a = address[l];
    extent.low = std::min(extent.low, a);
    extent.high = std::max(extent.high, a);
    if (!first) {
      extent.contiguous &= a == previous + size;
      extent.ascending &= a >= previous;
    }
    previous = a;
    first = false;
  });
  return extent;
}

/// All addresses or-ed: what alignment needs.
uint64_t bitsOf(const uint64_t *address, LaneMask lanes) {
  uint64_t bits = 0;
  if (lanes == allLanes<32>)
    for (unsigned l = 0; l < 32; ++l)
      bits |= address[l];
  else if (lanes == allLanes<64>)
    for (unsigned l = 0; l < 64; ++l)
      bits |= address[l];
  else
    forEachLane(lanes, [&](unsigned l) { bits |= address[l]; });
  return bits;
}

Sectors countSectors(const uint64_t *address, LaneMask lanes, uint32_t size, const Extent &extent) {
  constexpr unsigned sectorShift = 5;
  if (extent.contiguous) {
    uint64_t bytes = uint64_t(size) * countLanes(lanes);
    auto touched = ((extent.high + size - 1) >> sectorShift) - (extent.low >> sectorShift) + 1;
    return {static_cast<uint32_t>(touched), static_cast<uint32_t>((bytes + 31) >> sectorShift)};
  }
  uint64_t sorted[64];
  unsigned count = 0;
  forEachLane(lanes, [&](unsigned l) { sorted[count++] = address[l]; });
  if (!extent.ascending)
    std::sort(sorted, sorted + count);
  uint64_t bytes = 0, end = 0, sectors = 0, next = 0;
  for (unsigned i = 0; i < count; ++i) {
    uint64_t from = std::max(sorted[i], end), to = sorted[i] + size;
    if (to > from)
      bytes += to - from;
    end = std::max(end, to);
    uint64_t first = std::max(sorted[i] >> sectorShift, next), last = (to - 1) >> sectorShift;
    if (last >= first)
      sectors += last - first + 1;
    next = std::max(next, last + 1);
  }
  return {static_cast<uint32_t>(sectors), static_cast<uint32_t>((bytes + 31) >> sectorShift)};
}

} // namespace

LaneMask Block::access(Warp &warp, Space space, const uint64_t *address, LaneMask lanes, const Access &access,
                       const uint8_t *data) {
  if (!lanes)
    return 0;
  switch (space) {
  case Space::Global:
    return accessGlobal(warp, address, lanes, access, data);
  case Space::Shared:
    return accessShared(warp, address, lanes, access, data);
  case Space::Local:
    return accessLocal(warp, address, lanes, access);
  }
  return 0;
}

void Block::unwrite(Warp &warp, Space space, unsigned lane, uint64_t address, uint32_t bytes) {
  if (space == Space::Shared) {
    if (shared.holds(address, bytes))
      shared.unwrite(address, bytes);
  } else if (space == Space::Local) {
    if (!warp.localWritten.empty() && address + bytes <= program().localBytes)
      std::memset(warp.localWritten.data() + size_t(lane) * program().localBytes + address, 0, bytes);
  } else if (Allocation *allocation = launch_->memory->find(address, bytes);
             allocation && !allocation->written.empty()) {
    std::memset(allocation->written.data() + (address - allocation->base), 0, bytes);
  }
}

uint8_t *Block::at(Warp &warp, Space space, unsigned lane, uint64_t address) {
  switch (space) {
  case Space::Shared:
    return shared.data() + address;
  case Space::Local:
    return warp.local.data() + size_t(lane) * program().localBytes + address;
  default:
    return reinterpret_cast<uint8_t *>(address);
  }
}

void Block::checkAlignment(Warp &warp, Space space, const uint64_t *address, LaneMask lanes, const Access &access) {
  if (!(bitsOf(address, lanes) & (access.alignment - 1)) || !checks(Check::Alignment))
    return;
  forEachLane(lanes, [&](unsigned l) {
    if (address[l] & (access.alignment - 1))
      reportAt(ReportKind::Misaligned, access.site, warp, l, space, address[l],
               "an access of " + std::to_string(access.size) + " bytes that must be aligned to " +
                   std::to_string(access.alignment),
               "align the base and the row length, or use narrower accesses");
  });
}

void Block::outOfBounds(Warp &warp, Space space, unsigned lane, uint64_t address, const Access &access) {
  if (!checks(Check::Bounds))
    return;
  reportAt(ReportKind::Bounds, access.site, warp, lane, space, address,
           std::string(access.write ? "write" : "read") + " of " + std::to_string(access.size) + " bytes out of bounds",
           "guard the access with the size, or make the buffer larger");
}

/// The allocation that was found last is nearly always the next one too.
Allocation *Block::findAllocation(uint64_t address, uint64_t size) {
  if (recent_ && address - recent_->base < recent_->size && size <= recent_->size - (address - recent_->base))
    return recent_;
  Allocation *found = launch_->memory->find(address, size);
  recent_ = found ? found : recent_;
  return found;
}

LaneMask Block::accessGlobal(Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access,
                             const uint8_t *data) {
  Extent extent = extentOf(address, lanes, access.size);
  LaneMask ok = lanes;
  Allocation *allocation = findAllocation(extent.low, extent.high - extent.low + access.size);
  if (access.alignment > 1)
    checkAlignment(warp, Space::Global, address, lanes, access);
  auto touch = [&](unsigned lane, Allocation &a) {
    if (a.written.empty())
      return;
    uint8_t *flags = a.written.data() + (address[lane] - a.base);
    if (access.write)
      std::memset(flags, 1, access.size);
    else if (!access.copy && std::memchr(flags, 0, access.size) && checks(Check::Uninitialized))
      reportAt(ReportKind::Uninitialized, access.site, warp, lane, Space::Global, address[lane],
               "read of global memory that nobody wrote");
  };
  if (allocation && !(access.write && allocation->readOnly)) {
    uint8_t *flags = allocation->written.data() + (extent.low - allocation->base);
    size_t bytes = size_t(access.size) * countLanes(lanes);
    if (allocation->written.empty() || (!access.write && extent.contiguous && !std::memchr(flags, 0, bytes)))
      ;
    else if (access.write && extent.contiguous)
      std::memset(flags, 1, bytes);
    else
      forEachLane(lanes, [&](unsigned l) { touch(l, *allocation); });
  } else {
    forEachLane(lanes, [&](unsigned l) {
      Allocation *own = findAllocation(address[l], access.size);
      if (own && !(access.write && own->readOnly))
        return touch(l, *own);
      ok &= ~(LaneMask(1) << l);
      outOfBounds(warp, Space::Global, l, address[l], access);
    });
  }
  Counters &count = counters[access.site];
  Sectors sectors = countSectors(address, lanes, access.size, extent);
  ++count.globalRequests;
  count.sectors += sectors.actual;
  count.sectorsIdeal += sectors.ideal;
  (access.write ? count.bytesGlobalWritten : count.bytesGlobalRead) += uint64_t(access.size) * countLanes(lanes);
  progress += access.write;
  if (launch_->globalShadow)
    launch_->globalShadow->access(*this, warp, address, ok, access, data);
  return ok;
}

LaneMask Block::accessShared(Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access,
                             const uint8_t *data) {
  LaneMask ok = lanes;
  uint64_t high = extentOf(address, lanes, access.size).high;
  if (high + access.size > shared.size() || high >= windowBytes)
    forEachLane(lanes, [&](unsigned l) {
      if (shared.holds(address[l], access.size))
        return;
      ok &= ~(LaneMask(1) << l);
      outOfBounds(warp, Space::Shared, l, address[l], access);
    });
  if (access.alignment > 1)
    checkAlignment(warp, Space::Shared, address, ok, access);
  if (shared.blocks() > 1)
    checkOwner(warp, address, ok, access);
  Counters &count = counters[access.site];
  ++count.sharedRequests;
  count.bytesShared += uint64_t(access.size) * countLanes(ok);
  if (checks(Check::Bank)) {
    Wavefronts passes = countWavefronts(address, ok, access.size, program().width, launch_->chip->banks);
    count.sharedWavefronts += passes.actual;
    count.sharedWavefrontsIdeal += passes.ideal;
  }
  if (access.write)
    shared.write(*this, warp.index, warp.index, address, ok, access, data);
  else
    shared.read(*this, warp.index, warp.index, address, ok, access);
  progress += access.write;
  return ok;
}

LaneMask Block::accessLocal(Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access) {
  LaneMask ok = lanes;
  uint32_t bytes = program().localBytes;
  forEachLane(lanes, [&](unsigned l) {
    if (address[l] >= bytes || address[l] + access.size > bytes) {
      ok &= ~(LaneMask(1) << l);
      outOfBounds(warp, Space::Local, l, address[l], access);
      return;
    }
    if (warp.localWritten.empty())
      return;
    uint8_t *flags = warp.localWritten.data() + size_t(l) * bytes + address[l];
    if (access.write)
      std::memset(flags, 1, access.size);
    else if (!access.copy && !access.marksUndefined && std::memchr(flags, 0, access.size))
      reportAt(ReportKind::Uninitialized, access.site, warp, l, Space::Local, address[l],
               "read of a local variable that was not written");
  });
  if (access.alignment > 1)
    checkAlignment(warp, Space::Local, address, ok, access);
  return ok;
}

std::string Block::who(unsigned warp, unsigned lane) const {
  const Warp &named = warps[warp];
  std::string text = (program().lockStep ? "wave " : "warp ") + std::to_string(named.place);
  if (lane < program().width)
    text += " lane " + std::to_string(lane) + " (thread " + std::to_string(named.thread(lane)) + ")";
  return text + " of block " + blockOf(named).text();
}

std::string Block::describe(Space space, uint64_t address) const {
  char text[64];
  if (space == Space::Global)
    return launch_->memory->describe(address);
  bool isShared = space == Space::Shared;
  uint64_t offset = isShared ? shared.offsetOf(address) : address;
  uint64_t size = isShared ? shared.size() : program().localBytes;
  std::snprintf(text, sizeof text, "%s+0x%llx", isShared ? "shared" : "local", static_cast<unsigned long long>(offset));
  std::string result = text;
  if (isShared && shared.blocks() > 1 && shared.ownerOf(address) < shared.blocks())
    result += " of block " + places[shared.ownerOf(address)].text();
  return offset < size ? result : result + " (of " + std::to_string(size) + " bytes)";
}

void Block::report(ReportKind kind, uint32_t site, const Warp &warp, unsigned lane, std::string_view what,
                   std::string_view hint) {
  if (isBelievable(kind) && reports.isNew(kind, site))
    reports.add(kind, site, noSite, std::string(what) + " by " + who(warp.index, lane), std::string(hint));
}

void Block::reportAt(ReportKind kind, uint32_t site, const Warp &warp, unsigned lane, Space space, uint64_t address,
                     std::string_view what, std::string_view hint) {
  if (isBelievable(kind) && reports.isNew(kind, site))
    reports.add(kind, site, noSite,
                std::string(what) + " at " + describe(space, address) + " by " + who(warp.index, lane),
                std::string(hint));
}

} // namespace tilejit::sim
