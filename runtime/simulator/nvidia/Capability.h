// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which chip an asynchronous instruction needs.

#ifndef TILEJIT_SIMULATOR_NVIDIA_CAPABILITY_H
#define TILEJIT_SIMULATOR_NVIDIA_CAPABILITY_H

#include "decode/Decoder.h"

namespace tilejit::sim {

/// Whether the chip is of this compute capability (times ten) or newer; `specific`: with the features of sm_90a. If
/// not, the decoder fails with a message that names both.
inline bool needsChip(Decoder &decoder, unsigned capability, llvm::StringRef what, bool specific = false) {
  const Chip &chip = decoder.chip();
  if (chip.computeCapability >= capability && (chip.archSpecific || !specific))
    return true;
  decoder.fail("'" + what + "' needs sm_" + llvm::Twine(capability) + (specific ? "a" : "") + ", this is " +
               llvm::StringRef(chip.info.name));
  return false;
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_CAPABILITY_H
