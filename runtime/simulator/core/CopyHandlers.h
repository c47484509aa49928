// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Copies and fills of memory by each lane, of any length (llvm.memcpy, memmove, memset).

#ifndef TILEJIT_SIMULATOR_CORE_COPYHANDLERS_H
#define TILEJIT_SIMULATOR_CORE_COPYHANDLERS_H

#include "core/Program.h"

namespace tilejit::sim {

/// Bytes at pointer a = bytes at pointer b, c (I64) of them. Numbers: address space and alignment of the target, then
/// of the source. What nobody wrote stays unwritten in the copy.
Handler copyMemoryHandler(unsigned width);
/// Bytes at pointer a = b (I8), c of them. Numbers: address space and alignment.
Handler fillMemoryHandler(unsigned width);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_COPYHANDLERS_H
