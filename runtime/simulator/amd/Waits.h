// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What intrinsics and assembly text have in common: barriers, waits, traps.

#ifndef TILEJIT_SIMULATOR_AMD_WAITS_H
#define TILEJIT_SIMULATOR_AMD_WAITS_H

#include <cstdint>

namespace tilejit::sim {

class Decoder;

void emitAmdBarrier(Decoder &decoder);
/// The halves of the split barrier of RDNA 4.
void emitAmdSignal(Decoder &decoder);
void emitAmdSignalWait(Decoder &decoder);
/// At most `left` loads to LDS of the wave stay on their way.
void emitAmdWaitLoads(Decoder &decoder, unsigned left);
/// The count of vector loads in the operand of s_waitcnt.
unsigned vectorLoadsOf(const Decoder &decoder, int64_t waitcnt);
void emitAmdTrap(Decoder &decoder, int64_t number);
void emitAmdPause(Decoder &decoder);
void emitAmdEnd(Decoder &decoder);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_WAITS_H
