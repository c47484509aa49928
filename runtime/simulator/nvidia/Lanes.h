// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the lanes of an NVIDIA warp do together: shuffles, votes, matches, reductions, elections. Each waits for the
// lanes that its member mask names; a lane outside its own mask, and a shuffle from a lane that takes no part, is
// reported.

#ifndef TILEJIT_SIMULATOR_NVIDIA_LANES_H
#define TILEJIT_SIMULATOR_NVIDIA_LANES_H

#include "core/Block.h"
#include "decode/Decoder.h"

namespace tilejit::sim {

void addNvidiaLaneRules(Rules &rules);

/// Waits for the lanes that the member masks of the active lanes name (a register of 32 bits). False: the operation
/// must return at once, it is executed again. True: all are here, or those that never come have been reported.
bool meetMembers(Warp &warp, const Op &op, Reg members);

/// Where all active lanes have one number: that number; else a report of what must be uniform, and the first one.
uint32_t uniformOperand(Warp &warp, const Op &op, Reg reg, std::string_view what);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_LANES_H
