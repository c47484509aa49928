// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lanes move in steps of up to 16 bytes; each step is one checked access. Everything is read before anything is
// written, so that overlapping copies are right.

#include "core/CopyHandlers.h"

#include "core/Block.h"
#include "core/Pointers.h"

#include <algorithm>
#include <cstring>

namespace tilejit::sim {

namespace {

/// The bytes of one lane, and which of them were written.
struct LaneBytes {
  std::vector<uint8_t> data, written;
};

/// Flags of the bytes at a checked address that say whether they were written; null: all were.
uint8_t *writtenFlags(Warp &warp, Space space, unsigned lane, uint64_t address, uint32_t size) {
  if (space == Space::Local)
    return warp.localWritten.empty()
               ? nullptr
               : warp.localWritten.data() + size_t(lane) * warp.block->program().localBytes + address;
  if (space == Space::Shared)
    return nullptr;
  Allocation *allocation = warp.block->launch().memory->find(address, size);
  return !allocation || allocation->written.empty() ? nullptr
                                                    : allocation->written.data() + (address - allocation->base);
}

/// Calls f(lanes, offset, size) until all lanes have `length` bytes behind them.
template <unsigned W, class F> void inSteps(LaneMask mask, const uint64_t *length, F f) {
  alignas(64) uint64_t done[W] = {};
  for (;;) {
    LaneMask left = lanesWhere<W>([&](unsigned l) { return done[l] < length[l]; }) & mask;
    if (!left)
      return;
    // Lanes that are as far and have as much left go together.
    unsigned leader = firstLane(left);
    uint64_t rest = length[leader] - done[leader];
    uint32_t size = 16;
    while (size > rest)
      size /= 2;
    uint64_t at = done[leader];
    LaneMask together = lanesWhere<W>([&](unsigned l) { return done[l] == at && length[l] - done[l] >= size; }) & left;
    f(together, at, size);
    forEachLane(together, [&](unsigned l) { done[l] += size; });
  }
}

template <unsigned W, class F>
void access(Warp &warp, const Op &op, const uint64_t *pointer, unsigned number, LaneMask lanes, uint64_t offset,
            uint32_t size, bool write, F f) {
  Block &block = *warp.block;
  Access wanted;
  wanted.size = size;
  wanted.site = op.site;
  wanted.write = write;
  wanted.copy = true;
  wanted.alignment = static_cast<uint32_t>(std::min<int64_t>(op.x->numbers[number + 1], size));
  alignas(64) uint64_t at[W];
  for (unsigned l = 0; l < W; ++l)
    at[l] = pointer[l] + offset;
  LaneMask all = warp.mask;
  warp.mask = lanes;
  forEachSpace<W>(warp, at, static_cast<unsigned>(op.x->numbers[number]),
                  [&](Space space, const uint64_t *address, LaneMask part) {
                    LaneMask ok = block.access(warp, space, address, part, wanted);
                    forEachLane(ok, [&](unsigned l) {
                      f(l, block.at(warp, space, l, address[l]), writtenFlags(warp, space, l, address[l], size));
                    });
                  });
  warp.mask = all;
}

template <unsigned W> void copy(Warp &warp, const Op &op) {
  const uint64_t *to = warp.reg<uint64_t>(op.a), *from = warp.reg<uint64_t>(op.b), *length = warp.reg<uint64_t>(op.c);
  std::vector<LaneBytes> bytes(W);
  inSteps<W>(warp.mask, length, [&](LaneMask lanes, uint64_t offset, uint32_t size) {
    forEachLane(lanes, [&](unsigned l) {
      bytes[l].data.resize(offset + size, 0xbd);
      bytes[l].written.resize(offset + size, 1);
    });
    access<W>(warp, op, from, 2, lanes, offset, size, false,
              [&](unsigned l, const uint8_t *source, const uint8_t *flags) {
                std::memcpy(bytes[l].data.data() + offset, source, size);
                if (flags)
                  std::memcpy(bytes[l].written.data() + offset, flags, size);
              });
  });
  inSteps<W>(warp.mask, length, [&](LaneMask lanes, uint64_t offset, uint32_t size) {
    access<W>(warp, op, to, 0, lanes, offset, size, true, [&](unsigned l, uint8_t *target, uint8_t *flags) {
      std::memcpy(target, bytes[l].data.data() + offset, size);
      if (flags)
        std::memcpy(flags, bytes[l].written.data() + offset, size);
    });
  });
}

template <unsigned W> void fill(Warp &warp, const Op &op) {
  const uint64_t *to = warp.reg<uint64_t>(op.a), *length = warp.reg<uint64_t>(op.c);
  const uint8_t *value = warp.reg<uint8_t>(op.b);
  inSteps<W>(warp.mask, length, [&](LaneMask lanes, uint64_t offset, uint32_t size) {
    access<W>(warp, op, to, 0, lanes, offset, size, true,
              [&](unsigned l, uint8_t *target, uint8_t *) { std::memset(target, value[l], size); });
  });
}

} // namespace

Handler copyMemoryHandler(unsigned width) { return width == 64 ? &copy<64> : &copy<32>; }
Handler fillMemoryHandler(unsigned width) { return width == 64 ? &fill<64> : &fill<32>; }

} // namespace tilejit::sim
