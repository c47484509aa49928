// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How full a GPU can be with blocks of one kernel, from what a block needs and the facts of the chip.

#ifndef TILEJIT_TARGET_OCCUPANCY_H
#define TILEJIT_TARGET_OCCUPANCY_H

#include "tilejit/Target/TargetSpec.h"

#include <cstdint>
#include <string_view>

namespace tilejit {

/// What one block takes.
struct BlockNeeds {
  int64_t threads = 0;
  int64_t registers = 0;   ///< 32-bit vector registers of a thread.
  int64_t sharedBytes = 0; ///< Static and dynamic.
};

struct Occupancy {
  int64_t blocks = 0;     ///< Resident on one unit (streaming multiprocessor, compute unit, work-group processor).
  int64_t percent = 0;    ///< Of the threads that a unit can hold, rounded down.
  std::string_view limit; ///< What bounds it: "threads", "blocks", "registers", "shared memory".
};

/// 0 blocks where a single one does not fit. Registers are rounded up to the chip's granule, threads to whole warps.
Occupancy occupancyOf(const GpuFacts &facts, const BlockNeeds &needs);

} // namespace tilejit

#endif // TILEJIT_TARGET_OCCUPANCY_H
