// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rows of an access: lanes side by side of which each goes on where the one before it ended. Most accesses are one
// row, or one for each line of a tile; bounds, sectors and shadows then look at rows instead of lanes.

#ifndef TILEJIT_SIMULATOR_CORE_LANEROWS_H
#define TILEJIT_SIMULATOR_CORE_LANEROWS_H

#include "core/Lanes.h"

#include <bit>
#include <cstdint>

namespace tilejit::sim {

/// `count` lanes from `lane` on, which access `bytes` bytes from `address` on. A row may run past the end of the
/// address space.
struct LaneRow {
  unsigned lane, count;
  uint64_t address, bytes;
};

class LaneRows {
public:
  /// Of an access of `size` bytes a lane by a warp of `width` lanes; all lanes have an address, active or not.
  LaneRows(const uint64_t *address, LaneMask lanes, uint32_t size, unsigned width)
      : address_(address), lanes_(lanes), size_(size),
        starts_(lanes & ~((lanes << 1) & (width == 64 ? following<64>(address, size) : following<32>(address, size)))) {
  }

  unsigned count() const { return countLanes(starts_); }

  /// Calls f(LaneRow) for each row, in the order of lanes.
  template <class F> void forEach(F f) const {
    for (LaneMask rest = starts_; rest; rest &= rest - 1) {
      unsigned lane = firstLane(rest);
      auto count = 1 + static_cast<unsigned>(std::countr_one((lanes_ & ~starts_) >> lane >> 1));
      f(LaneRow{lane, count, address_[lane], uint64_t(count) * size_});
    }
  }

private:
  /// Lanes that go on where the lane before them ended; lane 0 may or may not be among them.
  template <unsigned W> static LaneMask following(const uint64_t *address, uint32_t size) {
#ifdef __AVX512BW__
    LaneMask result = 0;
    __m512i before = _mm512_setzero_si512(), step = _mm512_set1_epi64(size);
    for (unsigned l = 0; l < W; l += 8) {
      __m512i here = _mm512_loadu_si512(address + l);
      __m512i wanted = _mm512_add_epi64(_mm512_alignr_epi64(here, before, 7), step);
      result |= LaneMask(_mm512_cmpeq_epi64_mask(here, wanted)) << l;
      before = here;
    }
    return result;
#else
    alignas(64) uint8_t flags[W];
    flags[0] = 0;
    for (unsigned l = 1; l < W; ++l)
      flags[l] = address[l] == address[l - 1] + size;
    return maskOf<W>(flags);
#endif
  }

  const uint64_t *address_;
  LaneMask lanes_;
  uint32_t size_;
  LaneMask starts_;
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_LANEROWS_H
