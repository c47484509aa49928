// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bank conflicts of shared memory, for the counters.

#ifndef TILEJIT_SIMULATOR_CORE_WAVEFRONTS_H
#define TILEJIT_SIMULATOR_CORE_WAVEFRONTS_H

#include "core/Lanes.h"

#include <cstdint>

namespace tilejit::sim {

/// Passes through the banks that an access needs, and the fewest possible for its bytes. Requests are served 128 bytes
/// at a time: 32 lanes of 4 bytes or less, 16 of 8, 8 of 16.
struct Wavefronts {
  uint32_t actual = 0, ideal = 0;
};

/// `regular`: the size is a power of two up to 16, and each active lane's address a multiple of it.
Wavefronts countWavefronts(const uint64_t *address, LaneMask lanes, uint32_t size, unsigned width, unsigned banks,
                           bool regular);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_WAVEFRONTS_H
