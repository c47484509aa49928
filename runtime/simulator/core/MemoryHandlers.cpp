// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Plain loads and stores: pointers are sorted by space, checked by the block, then moved element by element.

#include "core/Block.h"
#include "core/ElementSize.h"
#include "core/Handlers.h"
#include "core/Pointers.h"

#include <cstring>

namespace tilejit::sim {

namespace {

constexpr uint64_t untouchedPattern = 0xbdbdbdbdbdbdbdbdull;

/// Whether lane l's address is that of lane 0 plus l * size.
template <unsigned W> bool inOrder(const uint64_t *address, uint32_t size) {
  uint64_t wrong = 0;
  for (unsigned l = 0; l < W; ++l)
    wrong |= (address[l] - address[0]) ^ (uint64_t(l) * size);
  return wrong == 0;
}

template <class T>
void gather(Block &block, Warp &warp, Space space, const uint64_t *address, LaneMask lanes, uint32_t offset, T *to) {
  if (space == Space::Local) {
    forEachLane(lanes,
                [&](unsigned l) { std::memcpy(to + l, block.at(warp, space, l, address[l] + offset), sizeof(T)); });
    return;
  }
  const uint8_t *base = space == Space::Shared ? block.shared.data() : nullptr;
  forEachLane(lanes, [&](unsigned l) { std::memcpy(to + l, base + address[l] + offset, sizeof(T)); });
}

template <class T>
void scatter(Block &block, Warp &warp, Space space, const uint64_t *address, LaneMask lanes, uint32_t offset,
             const T *from) {
  if (space == Space::Local) {
    forEachLane(lanes,
                [&](unsigned l) { std::memcpy(block.at(warp, space, l, address[l] + offset), from + l, sizeof(T)); });
    return;
  }
  uint8_t *base = space == Space::Shared ? block.shared.data() : nullptr;
  forEachLane(lanes, [&](unsigned l) { std::memcpy(base + address[l] + offset, from + l, sizeof(T)); });
}

/// Elements of odd sizes (i24): byte by byte, zero-extended.
void gatherBytes(Block &block, Warp &warp, Space space, const uint64_t *address, LaneMask lanes, uint32_t offset,
                 unsigned inMemory, unsigned inRegister, uint8_t *to) {
  forEachLane(lanes, [&](unsigned l) {
    std::memset(to + l * inRegister, 0, inRegister);
    std::memcpy(to + l * inRegister, block.at(warp, space, l, address[l] + offset), inMemory);
  });
}

void scatterBytes(Block &block, Warp &warp, Space space, const uint64_t *address, LaneMask lanes, uint32_t offset,
                  unsigned inMemory, unsigned inRegister, const uint8_t *from) {
  forEachLane(lanes, [&](unsigned l) {
    std::memcpy(block.at(warp, space, l, address[l] + offset), from + l * inRegister, inMemory);
  });
}

Access accessOf(const Op &op, bool write) {
  Access access;
  access.size = static_cast<uint32_t>(op.x->numbers[0]);
  access.alignment = static_cast<uint32_t>(op.x->numbers[1]);
  access.site = op.site;
  access.write = write;
  access.own = op.imm == sharedSpace;
  return access;
}

template <unsigned W> void load(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  const OpOperands &x = *op.x;
  Access access = accessOf(op, false);
  access.marksUndefined = true;
  forEachSpace<W>(warp, warp.reg<uint64_t>(op.a), static_cast<unsigned>(op.imm),
                  [&](Space space, const uint64_t *address, LaneMask lanes) {
                    LaneMask ok = block.access(warp, space, address, lanes, access);
                    bool whole = ok == allLanes<W> && space != Space::Local && x.out.size() == 1 &&
                                 inOrder<W>(address, access.size) && x.numbers[2] == sizeOf(x.outKinds[0]);
                    if (whole) {
                      const uint8_t *base = space == Space::Shared ? block.shared.data() : nullptr;
                      std::memcpy(warp.registers + x.out[0], base + address[0], size_t(access.size) * W);
                      return;
                    }
                    for (size_t i = 0; i < x.out.size(); ++i) {
                      uint8_t *to = warp.registers + x.out[i];
                      unsigned bytes = sizeOf(x.outKinds[i]);
                      if (ok != lanes)
                        forEachLane(lanes & ~ok,
                                    [&](unsigned l) { std::memcpy(to + l * bytes, &untouchedPattern, bytes); });
                      if (x.numbers[2 + i] != bytes)
                        gatherBytes(block, warp, space, address, ok, x.offsets[i],
                                    static_cast<unsigned>(x.numbers[2 + i]), bytes, to);

                      else
                        forElementSize(bytes, [&](auto t) {
                          gather(block, warp, space, address, ok, x.offsets[i], reinterpret_cast<decltype(t) *>(to));
                        });
                      if (x.outKinds[i] == Kind::I1)
                        forEachLane(ok, [&](unsigned l) { to[l] &= 1; });
                    }
                  });
}

/// What the lanes are about to store, for the comparison of values in the shadow.
template <unsigned W> const uint8_t *valuesOf(Warp &warp, const OpOperands &x, uint32_t size, uint8_t *buffer) {
  if (x.in.size() == 1 && x.numbers[2] == sizeOf(x.inKinds[0]))
    return warp.registers + x.in[0];
  for (size_t i = 0; i < x.in.size(); ++i) {
    unsigned bytes = sizeOf(x.inKinds[i]);
    const uint8_t *from = warp.registers + x.in[i];
    for (unsigned l = 0; l < W; ++l)
      std::memcpy(buffer + size_t(l) * size + x.offsets[i], from + l * bytes, static_cast<size_t>(x.numbers[2 + i]));
  }
  return buffer;
}

template <unsigned W> void store(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  const OpOperands &x = *op.x;
  Access access = accessOf(op, true);
  forEachSpace<W>(
      warp, warp.reg<uint64_t>(op.a), static_cast<unsigned>(op.imm),
      [&](Space space, const uint64_t *address, LaneMask lanes) {
        alignas(8) uint8_t buffer[W * 256];
        bool wanted = space == Space::Shared || (space == Space::Global && block.launch().globalShadow);
        const uint8_t *data = wanted && access.size <= 256 ? valuesOf<W>(warp, x, access.size, buffer) : nullptr;
        LaneMask ok = block.access(warp, space, address, lanes, access, data);
        bool whole = ok == allLanes<W> && space != Space::Local && x.in.size() == 1 &&
                     inOrder<W>(address, access.size) && x.numbers[2] == sizeOf(x.inKinds[0]);
        if (whole) {
          uint8_t *base = space == Space::Shared ? block.shared.data() : nullptr;
          std::memcpy(base + address[0], warp.registers + x.in[0], size_t(access.size) * W);
          return;
        }
        for (size_t i = 0; i < x.in.size(); ++i) {
          const uint8_t *from = warp.registers + x.in[i];
          unsigned bytes = sizeOf(x.inKinds[i]);
          if (x.numbers[2 + i] != bytes)
            scatterBytes(block, warp, space, address, ok, x.offsets[i], static_cast<unsigned>(x.numbers[2 + i]), bytes,
                         from);

          else
            forElementSize(bytes, [&](auto t) {
              scatter(block, warp, space, address, ok, x.offsets[i], reinterpret_cast<const decltype(t) *>(from));
            });
        }
      });
}

} // namespace

Handler loadHandler(unsigned width) { return width == 64 ? &load<64> : &load<32>; }
Handler storeHandler(unsigned width) { return width == 64 ? &store<64> : &store<32>; }

} // namespace tilejit::sim
