// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What differs between the simulated chips, as rows of data. The simulator keeps its own table on purpose: it must not
// repeat a mistake of the compiler's.

#ifndef TILEJIT_SIMULATOR_CORE_CHIP_H
#define TILEJIT_SIMULATOR_CORE_CHIP_H

#include "tilejit/Simulator/Simulator.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tilejit::sim {

/// Generations within a vendor, in order.
enum class Generation : uint8_t {
  Turing,
  Ampere,
  Ada,
  Hopper, // NVIDIA
  Gcn5,
  Cdna1,
  Cdna2,
  Cdna3,
  Cdna4, // AMD, wave64
  Rdna2,
  Rdna3,
  Rdna4, // AMD, wave32
};

struct Chip {
  ChipInfo info;
  Generation generation;
  unsigned computeCapability; ///< NVIDIA: 80 for sm_80. AMD: 0x942 for gfx942.
  bool archSpecific;          ///< sm_90a: wgmma, setmaxnreg.
  unsigned banks = 32;        ///< Of shared memory, 4 bytes each.
  uint32_t maxThreads = 1024;
};

std::span<const Chip> chips();
/// Null for a name that is not simulated. Feature suffixes of AMD targets ("gfx90a:xnack-") are ignored.
const Chip *findChip(std::string_view name);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_CHIP_H
