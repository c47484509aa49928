// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What every access goes through: bounds, alignment, initialisation, counters, order. And the words of reports.

#include "core/Block.h"

#include "core/GlobalShadow.h"
#include "core/LaneRows.h"
#include "core/Wavefronts.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace tilejit::sim {

namespace {

/// All addresses or-ed, the smallest and the largest.
struct Extent {
  uint64_t bits = 0, low = ~0ull, high = 0;
};

/// For all lanes of a warp: a loop that becomes vector code.
template <unsigned W> Extent extentOfAll(const uint64_t *address) {
  uint64_t bits = 0, low = ~0ull, high = 0;
  for (unsigned l = 0; l < W; ++l) {
    bits |= address[l];
    low = std::min(low, address[l]);
    high = std::max(high, address[l]);
  }
  return {bits, low, high};
}

Extent extentOf(const uint64_t *address, LaneMask lanes) {
  if (lanes == allLanes<32>)
    return extentOfAll<32>(address);
  if (lanes == allLanes<64>)
    return extentOfAll<64>(address);
  Extent extent;
  forEachLane(lanes, [&](unsigned l) {
    extent.bits |= address[l];
    extent.low = std::min(extent.low, address[l]);
    extent.high = std::max(extent.high, address[l]);
  });
  return extent;
}

/// The same by rows. `bits` is not exact: it has a bit below any power of two of which some address is no multiple.
Extent extentOf(const LaneRows &rows, uint32_t size) {
  Extent extent;
  rows.forEach([&](const LaneRow &row) {
    extent.bits |= row.address | (row.count > 1 ? size : 0);
    extent.low = std::min(extent.low, row.address);
    // A row that runs past the end of the address space is as high as its beginning.
    extent.high = std::max({extent.high, row.address, row.address + row.bytes - size});
  });
  return extent;
}

Sectors countSectors(const LaneRows &rows, uint32_t size) {
  constexpr unsigned sectorShift = 5;
  uint64_t start[64], length[64];
  unsigned count = 0;
  bool falls = false;
  rows.forEach([&](const LaneRow &row) {
    falls |= count && row.address < start[count - 1];
    start[count] = row.address;
    length[count++] = row.bytes;
  });
  if (falls) {
    // Lanes are sorted by address alone; mostly each of them is a row already.
    if (bool isLanes = std::all_of(length, length + count, [=](uint64_t bytes) { return bytes == size; }); !isLanes) {
      count = 0;
      rows.forEach([&](const LaneRow &row) {
        for (unsigned i = 0; i < row.count; ++i)
          start[count++] = row.address + uint64_t(i) * size;
      });
      std::fill(length, length + count, size);
    }
    std::sort(start, start + count);
  }
  uint64_t bytes = 0, end = 0, sectors = 0, next = 0;
  for (unsigned i = 0; i < count; ++i) {
    uint64_t from = start[i], to = from + length[i];
    if (uint64_t fresh = std::max(from, end); to > fresh)
      bytes += to - fresh;
    end = std::max(end, to);
    uint64_t first = std::max(from >> sectorShift, next), last = (to - 1) >> sectorShift;
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

/// `bits`: has one below the alignment only where some address is no multiple of it.
void Block::checkAlignment(Warp &warp, Space space, const uint64_t *address, LaneMask lanes, const Access &access,
                           uint64_t bits) {
  if (!(bits & (access.alignment - 1)) || !checks(Check::Alignment))
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
  LaneRows rows(address, lanes, access.size, program().width);
  // Rows where they are few, else all lanes at once.
  Extent extent = rows.count() <= 4 ? extentOf(rows, access.size) : extentOf(address, lanes);
  checkAlignment(warp, Space::Global, address, lanes, access, extent.bits);
  Allocation *allocation = findAllocation(extent.low, extent.high - extent.low + access.size);
  LaneMask ok = lanes;
  if (allocation && !(access.write && allocation->readOnly)) {
    if (!allocation->written.empty())
      rows.forEach([&](const LaneRow &row) { touchGlobal(warp, *allocation, row, access); });
  } else {
    forEachLane(lanes, [&](unsigned l) {
      Allocation *own = findAllocation(address[l], access.size);
      if (own && !(access.write && own->readOnly))
        return touchGlobal(warp, *own, {l, 1, address[l], access.size}, access);
      ok &= ~(LaneMask(1) << l);
      outOfBounds(warp, Space::Global, l, address[l], access);
    });
  }
  Counters &count = counters[access.site];
  Sectors sectors = countSectors(rows, access.size);
  ++count.globalRequests;
  count.sectors += sectors.actual;
  count.sectorsIdeal += sectors.ideal;
  (access.write ? count.bytesGlobalWritten : count.bytesGlobalRead) += uint64_t(access.size) * countLanes(lanes);
  progress += access.write;
  if (launch_->globalShadow)
    launch_->globalShadow->access(*this, warp, address, ok, access, data);
  return ok;
}

/// Marks bytes of an allocation as written, or looks whether they were.
void Block::touchGlobal(Warp &warp, Allocation &allocation, const LaneRow &row, const Access &access) {
  if (allocation.written.empty())
    return;
  uint8_t *flags = allocation.written.data() + (row.address - allocation.base);
  if (access.write) {
    std::memset(flags, 1, row.bytes);
    return;
  }
  if (access.copy || !checks(Check::Uninitialized) || !std::memchr(flags, 0, row.bytes))
    return;
  for (unsigned i = 0; i < row.count; ++i)
    if (uint64_t at = uint64_t(i) * access.size; std::memchr(flags + at, 0, access.size))
      reportAt(ReportKind::Uninitialized, access.site, warp, row.lane + i, Space::Global, row.address + at,
               "read of global memory that nobody wrote");
}

LaneMask Block::accessShared(Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access,
                             const uint8_t *data) {
  LaneMask ok = lanes;
  Extent extent = extentOf(address, lanes);
  if (extent.high + access.size > shared.size() || extent.high >= windowBytes)
    forEachLane(lanes, [&](unsigned l) {
      if (shared.holds(address[l], access.size))
        return;
      ok &= ~(LaneMask(1) << l);
      outOfBounds(warp, Space::Shared, l, address[l], access);
    });
  checkAlignment(warp, Space::Shared, address, ok, access, extent.bits);
  if (shared.blocks() > 1)
    checkOwner(warp, address, ok, access);
  Counters &count = counters[access.site];
  ++count.sharedRequests;
  count.bytesShared += uint64_t(access.size) * countLanes(ok);
  if (checks(Check::Bank)) {
    bool regular = std::has_single_bit(access.size) && access.size <= 16 && !(extent.bits & (access.size - 1));
    Wavefronts passes = countWavefronts(address, ok, access.size, program().width, launch_->chip->banks, regular);
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
  checkAlignment(warp, Space::Local, address, ok, access, extentOf(address, ok).bits);
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
