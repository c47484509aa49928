// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Addresses of buffer instructions: a resource of 128 bits (base, stride, number of records, flags), an index, offsets,
// and the range check that makes reads outside give 0 and drops writes there.

#ifndef TILEJIT_SIMULATOR_AMD_BUFFER_H
#define TILEJIT_SIMULATOR_AMD_BUFFER_H

#include "core/Block.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tilejit::sim {

/// How a buffer instruction is checked, in OpOperands::numbers.
enum BufferFlag : int64_t {
  BufferHasIndex = 1,
  BufferWhole = 2,   ///< An atomic: all of it or nothing. Else each dword is checked by itself.
  BufferSelects = 4, ///< RDNA: flags of the resource say what is checked.
  BufferRdna3 = 8,   ///< From RDNA 3 on, two bits say how a buffer is swizzled.
};

/// Registers that locate a buffer access, in this order.
enum BufferReg : unsigned { BufferLow, BufferHigh, BufferIndex, BufferOffset, BufferScalar, BufferRegs };

/// Whether the addresses of a resource are computed in a way that is simulated; if not, reports it and gives the launch
/// up. `low`, `high`: of all active lanes, or-ed.
bool checkResource(Warp &warp, const Op &op, int64_t flags, uint64_t low, uint64_t high);

/// Where each lane's bytes are, and how many of them are in range.
template <unsigned W> struct BufferLanes {
  alignas(64) uint64_t address[W];
  uint32_t bytes[W]; ///< 0 to the size of the access.
};

/// For an operation with BufferReg first in its operands, and the size of a lane's bytes and BufferFlag first in its
/// numbers.
template <unsigned W> void locateBuffer(Warp &warp, const Op &op, BufferLanes<W> &lanes) {
  const Reg *in = op.x->in.data();
  auto size = static_cast<uint32_t>(op.x->numbers[0]);
  int64_t flags = op.x->numbers[1];
  const uint64_t *low = warp.reg<uint64_t>(in[BufferLow]), *high = warp.reg<uint64_t>(in[BufferHigh]);
  const uint32_t *index = warp.reg<uint32_t>(in[BufferIndex]), *offset = warp.reg<uint32_t>(in[BufferOffset]),
                 *scalar = warp.reg<uint32_t>(in[BufferScalar]);
  bool hasIndex = flags & BufferHasIndex, whole = flags & BufferWhole;
  uint64_t allLow = 0, allHigh = 0;
  for (unsigned l = 0; l < W; ++l) {
    uint64_t base = low[l] & 0xffffffffffff, stride = low[l] >> 48 & 0x3fff, records = high[l] & 0xffffffff;
    uint64_t i = hasIndex ? index[l] : 0, select = high[l] >> 60 & 3;
    lanes.address[l] = base + i * stride + offset[l] + scalar[l];
    uint64_t from = uint64_t(offset[l]) + scalar[l], left;
    if (flags & BufferSelects && select == 2)
      left = records ? size : 0;
    else if (hasIndex && stride && !(flags & BufferSelects && select == 3))
      left = i >= records || (flags & BufferSelects && select == 0 && offset[l] + uint64_t(size) > stride) ? 0 : size;
    else
      left = records > from ? records - from : 0;
    if (left < size)
      left = whole ? 0 : left / 4 * 4;
    lanes.bytes[l] = static_cast<uint32_t>(std::min<uint64_t>(left, size));
    uint64_t active = 0 - (warp.mask >> l & 1);
    allLow |= low[l] & active;
    allHigh |= high[l] & active;
  }
  if (!checkResource(warp, op, flags, allLow, allHigh)) [[unlikely]]
    std::fill_n(lanes.bytes, W, 0);
}

/// Reads `size` bytes a lane to `data` (size bytes for each lane): 0 out of range, a pattern where nothing is
/// allocated.
template <unsigned W>
void readBuffer(Warp &warp, const Op &op, const BufferLanes<W> &lanes, uint32_t size, uint8_t *data) {
  Block &block = *warp.block;
  std::memset(data, 0, size_t(size) * W);
  // Usually a lane is in range or is not; else piece by piece.
  LaneMask whole = 0, some = 0;
  for (unsigned l = 0; l < W; ++l) {
    whole |= LaneMask(lanes.bytes[l] == size) << l;
    some |= LaneMask(lanes.bytes[l] != 0) << l;
  }
  auto readPiece = [&](LaneMask wanted, uint32_t at, uint32_t bytes) {
    if (!wanted)
      return;
    alignas(64) uint64_t address[W];
    for (unsigned l = 0; l < W; ++l)
      address[l] = lanes.address[l] + at;
    Access access{.size = bytes, .alignment = std::min(bytes & (0u - bytes), 4u), .site = op.site};
    LaneMask ok = block.access(warp, Space::Global, address, wanted, access);
    forEachLane(wanted, [&](unsigned l) {
      if (ok >> l & 1)
        std::memcpy(data + size_t(l) * size + at, block.at(warp, Space::Global, l, address[l]), bytes);
      else
        std::memset(data + size_t(l) * size + at, 0xbd, bytes);
    });
  };
  readPiece(warp.mask & whole, 0, size);
  for (uint32_t at = 0; at < size && warp.mask & some & ~whole; at += 4) {
    LaneMask wanted = 0;
    for (unsigned l = 0; l < W; ++l)
      wanted |= LaneMask(lanes.bytes[l] != size && lanes.bytes[l] >= at + 4) << l;
    readPiece(warp.mask & wanted, at, 4);
  }
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_BUFFER_H
