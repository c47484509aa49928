// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Special registers of NVIDIA's machines: who am I, how many are we, what time is it. Clocks count the instructions of
// the warp, so that they never run backwards and a launch gives the same numbers each time; they measure nothing.

#ifndef TILEJIT_SIMULATOR_NVIDIA_SPECIALREGISTERS_H
#define TILEJIT_SIMULATOR_NVIDIA_SPECIALREGISTERS_H

#include "decode/Decoder.h"

namespace tilejit::sim {

/// Shared memory that belongs to the system (cooperative groups keep their barriers there) in kernels that ask for it.
inline constexpr uint32_t reservedSharedBytes = 1024;

/// Reads a special register at the present site, by the name that PTX gives it ("%tid.x", with or without the sign).
/// Its kind is that of PTX: 64 bits for clock64, globaltimer and gridid, a predicate for is_explicit_cluster. An
/// unknown name is an error of the decoder.
Reg specialRegister(Decoder &decoder, llvm::StringRef name);

void addNvidiaSpecialRegisterRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_SPECIALREGISTERS_H
