// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Barriers of NVIDIA's blocks, warps and clusters, fences between threads, and the instructions that only pause or end.

#ifndef TILEJIT_SIMULATOR_NVIDIA_BARRIERS_H
#define TILEJIT_SIMULATOR_NVIDIA_BARRIERS_H

#include "decode/Decoder.h"

namespace tilejit::sim {

void addNvidiaBarrierRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_BARRIERS_H
