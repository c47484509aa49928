// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bulk copies on their way: how they are checked, marked in the shadow of shared memory, and carried out.

#include "nvidia/BulkCopy.h"

#include "core/Block.h"
#include "core/NarrowFloat.h"
#include "nvidia/CopyGroups.h"
#include "nvidia/Mbarrier.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tilejit::sim {

namespace {

/// Where a byte of a packed box lies: 16-byte pieces are permuted by bits of the absolute address.
uint32_t swizzled(uint32_t address, unsigned mode) {
  return mode ? address ^ (((address >> 7) & ((1u << mode) - 1)) << 4) : address;
}

/// Calls f(place in shared memory, offset in the run, bytes) for pieces of a run that stay together.
template <class F> void forEachPiece(const BulkCopy &copy, const CopyRun &run, F f) {
  if (!copy.swizzle)
    return f(copy.shared + run.offset, 0u, run.bytes);
  for (uint32_t done = 0; done < run.bytes;) {
    uint32_t address = copy.shared + run.offset + done, bytes = std::min(16 - address % 16, run.bytes - done);
    f(swizzled(address, copy.swizzle), done, bytes);
    done += bytes;
  }
}

void fillBytes(const BulkCopy &copy, uint8_t *to, uint32_t offset, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i)
    to[i] = static_cast<uint8_t>(copy.fill >> (8 * ((offset + i) % copy.fillBytes)));
}

} // namespace

// --- Checks ---------------------------------------------------------------------------------------------------------

bool checkShared(Warp &warp, unsigned lane, uint32_t site, uint32_t address, uint32_t bytes, uint32_t alignment,
                 std::string_view what) {
  Block &block = *warp.block;
  if (address % alignment) {
    if (block.checks(Check::Alignment))
      block.reportAt(ReportKind::Misaligned, site, warp, lane, Space::Shared, address,
                     std::string(what) + " that must be aligned to " + std::to_string(alignment) + " bytes",
                     "align the buffer in shared memory");
    return false;
  }
  if (!block.shared.holds(address, bytes)) {
    if (block.checks(Check::Bounds))
      block.reportAt(ReportKind::Bounds, site, warp, lane, Space::Shared, address,
                     std::string(what) + " of " + std::to_string(bytes) + " bytes out of bounds",
                     "make the buffer in shared memory as large as the copy");
    return false;
  }
  return true;
}

void checkGlobal(Warp &warp, BulkCopy &copy, bool write, bool atomic) {
  Access access;
  access.site = copy.site;
  access.write = write;
  access.atomic = atomic;
  access.async = true;
  uint64_t place[64];
  LaneMask lane = LaneMask(1) << copy.lane;
  for (CopyRun &run : copy.runs) {
    if (!run.global)
      continue;
    place[copy.lane] = run.global;
    access.size = run.bytes;
    if (!warp.block->access(warp, Space::Global, place, lane, access))
      run.global = 0;
  }
}

// --- Loads ----------------------------------------------------------------------------------------------------------

void startLoad(Warp &warp, Mbarrier &barrier, BulkCopy copy) {
  Block &block = *warp.block;
  unsigned agent = agentOf(block, barrier);
  Access access;
  access.size = copy.bytes;
  access.site = copy.site;
  access.async = copy.way != BulkCopy::Way::LaneToShared;
  access.atomic = copy.reduction.operation != CopyReduction::None;
  if (copy.way == BulkCopy::Way::SharedToShared)
    block.shared.readAsync(block, agent, warp.index, copy.lane, block.ordering.record(agent, copy.site, true, false),
                           std::array{SharedRun{copy.from, copy.bytes}}, access);
  access.write = access.pending = true;
  block.shared.writeAsync(block, agent, warp.index, copy.lane, copy.shared, copy.bytes, access);
  block.counters[copy.site].bytesShared += copy.bytes;
  copy.warp = warp.index;
  copy.mbarrier = barrier.address;
  ++barrier.inFlight;
  ++block.progress;
  block.nvidia->loads.push_back(std::move(copy));
}

void landLoad(Block &block, BulkCopy &copy) {
  uint8_t *shared = block.shared.data();
  if (copy.way == BulkCopy::Way::SharedToShared) {
    std::memmove(shared + copy.shared, shared + copy.from, copy.bytes);
  } else if (copy.way == BulkCopy::Way::LaneToShared) {
    reduceBytes(copy.reduction, shared + copy.shared, copy.data.data(), copy.bytes);
  } else {
    for (const CopyRun &run : copy.runs)
      forEachPiece(copy, run, [&](uint32_t to, uint32_t done, uint32_t bytes) {
        if (run.global)
          std::memcpy(shared + to, reinterpret_cast<const void *>(run.global + done), bytes);
        else
          fillBytes(copy, shared + to, run.offset + done, bytes);
      });
  }
  auto found = block.nvidia->mbarriers.find(copy.mbarrier);
  if (found == block.nvidia->mbarriers.end())
    return;
  Mbarrier &barrier = found->second;
  unsigned agent = agentOf(block, barrier);
  uint64_t place[64];
  place[copy.lane] = copy.shared;
  // Of several reductions to one place, the last one to land makes it readable.
  bool reduces = copy.reduction.operation != CopyReduction::None;
  bool isLast =
      !reduces || std::none_of(block.nvidia->loads.begin(), block.nvidia->loads.end(), [&](const auto &other) {
        return other.shared < copy.shared + copy.bytes && copy.shared < other.shared + other.bytes;
      });
  if (isLast)
    block.shared.settleLanes(block, agent, copy.site, place, LaneMask(copy.bytes != 0) << copy.lane, copy.bytes,
                             copy.way != BulkCopy::Way::LaneToShared, reduces);
  block.ordering.release(agent);
  publishAt(block, barrier, agent);
  --barrier.inFlight;
  countBytes(block, barrier, block.warps[copy.warp], copy.lane, copy.site, copy.bytes);
  ++block.progress;
}

// --- Stores ---------------------------------------------------------------------------------------------------------

void startStore(Warp &warp, BulkCopy copy, ReductionSpec reduction) {
  Block &block = *warp.block;
  NvidiaWarpState &state = *warp.nvidia;
  if (state.storeAgent == noAgent)
    state.storeAgent = block.ordering.addAgent();
  Access access;
  access.site = copy.site;
  access.async = true;
  block.shared.readAsync(block, state.storeAgent, warp.index, copy.lane,
                         block.ordering.record(state.storeAgent, copy.site, true, false),
                         std::array{SharedRun{copy.shared, copy.bytes}}, access);
  block.counters[copy.site].bytesShared += copy.bytes;
  copy.warp = warp.index;
  copy.lanes = LaneMask(1) << copy.lane;
  if (reduction.operation != CopyReduction::None) {
    for (const CopyRun &run : copy.runs)
      if (run.global)
        forEachPiece(copy, run, [&](uint32_t from, uint32_t done, uint32_t bytes) {
          reduceBytes(reduction, reinterpret_cast<uint8_t *>(run.global + done), block.shared.data() + from, bytes);
        });
    copy.read = copy.written = true;
  }
  ++block.progress;
  state.stores.open.push_back(std::move(copy));
}

void readStore(Block &block, BulkCopy &copy) {
  if (copy.read)
    return;
  copy.read = true;
  copy.data.resize(copy.bytes);
  for (const CopyRun &run : copy.runs)
    forEachPiece(copy, run, [&](uint32_t from, uint32_t done, uint32_t bytes) {
      std::memcpy(copy.data.data() + run.offset + done, block.shared.data() + from, bytes);
    });
}

void writeStore(Block &block, BulkCopy &copy) {
  readStore(block, copy);
  if (copy.written)
    return;
  copy.written = true;
  for (const CopyRun &run : copy.runs)
    if (run.global)
      std::memcpy(reinterpret_cast<void *>(run.global), copy.data.data() + run.offset, run.bytes);
  ++block.progress;
}

// --- Reductions -----------------------------------------------------------------------------------------------------

namespace {

template <class T> T reduceInteger(CopyReduction operation, T old, T value) {
  switch (operation) {
  case CopyReduction::Add:
    return static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(value));
  case CopyReduction::Min:
    return std::min(old, value);
  case CopyReduction::Max:
    return std::max(old, value);
  case CopyReduction::Inc:
    return old >= value ? 0 : old + 1;
  case CopyReduction::Dec:
    return old == 0 || old > value ? value : old - 1;
  case CopyReduction::And:
    return old & value;
  case CopyReduction::Or:
    return old | value;
  case CopyReduction::Xor:
    return old ^ value;
  default:
    return value;
  }
}

template <class T> T reduceReal(CopyReduction operation, T old, T value) {
  switch (operation) {
  case CopyReduction::Add:
    return old + value;
  case CopyReduction::Min:
    return std::fmin(old, value);
  case CopyReduction::Max:
    return std::fmax(old, value);
  default:
    return value;
  }
}

template <class T, class F> void forEachElement(uint8_t *to, const uint8_t *from, uint32_t bytes, F f) {
  for (uint32_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T old, value;
    std::memcpy(&old, to + i, sizeof(T));
    std::memcpy(&value, from + i, sizeof(T));
    old = f(old, value);
    std::memcpy(to + i, &old, sizeof(T));
  }
}

} // namespace

void reduceBytes(ReductionSpec spec, uint8_t *to, const uint8_t *from, uint32_t bytes) {
  if (spec.operation == CopyReduction::None) {
    std::memcpy(to, from, bytes);
    return;
  }
  auto integers = [&](auto zero) {
    using T = decltype(zero);
    forEachElement<T>(to, from, bytes, [&](T a, T b) { return reduceInteger(spec.operation, a, b); });
  };
  auto reals = [&](auto zero) {
    using T = decltype(zero);
    forEachElement<T>(to, from, bytes, [&](T a, T b) { return reduceReal(spec.operation, a, b); });
  };
  switch (spec.type) {
  case TensorMapType::U8:
    return integers(uint8_t());
  case TensorMapType::U16:
    return integers(uint16_t());
  case TensorMapType::U32:
    return integers(uint32_t());
  case TensorMapType::S32:
    return integers(int32_t());
  case TensorMapType::U64:
    return integers(uint64_t());
  case TensorMapType::S64:
    return integers(int64_t());
  case TensorMapType::F64:
    return reals(double());
  case TensorMapType::F16:
    return forEachElement<uint16_t>(to, from, bytes, [&](uint16_t a, uint16_t b) {
      return floatToF16(reduceReal(spec.operation, f16ToFloat(a), f16ToFloat(b)));
    });
  case TensorMapType::BF16:
    return forEachElement<uint16_t>(to, from, bytes, [&](uint16_t a, uint16_t b) {
      return floatToBf16(reduceReal(spec.operation, bf16ToFloat(a), bf16ToFloat(b)));
    });
  default:
    return reals(float());
  }
}

} // namespace tilejit::sim
