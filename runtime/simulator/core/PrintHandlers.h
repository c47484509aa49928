// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What kernels say: printf of both vendors, and assertions. Lanes speak in ascending order.

#ifndef TILEJIT_SIMULATOR_CORE_PRINTHANDLERS_H
#define TILEJIT_SIMULATOR_CORE_PRINTHANDLERS_H

#include "core/Program.h"

namespace tilejit::sim {

/// CUDA's vprintf: d = number of values; a: pointer to the format, b: pointer to the values, packed like a struct.
Handler printPackedHandler(unsigned width);

/// HIP's printf in pieces. The descriptor that goes through all of them holds the message so far.
/// d = a new descriptor.
Handler printBeginHandler(unsigned width);
/// d = the descriptor a with the string at pointer b of c bytes; numbers: number of the operand that says "last".
/// x->in: descriptor, pointer, length, last.
Handler printStringHandler(unsigned width);
/// d = the descriptor with values. x->in: descriptor, count, values (I64 each), last.
Handler printValuesHandler(unsigned width);

/// A failed assertion: x->in are its arguments; x->inKinds tell pointers (strings) from numbers (the line).
Handler assertHandler(unsigned width);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_PRINTHANDLERS_H
