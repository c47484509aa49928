// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How the decoder tells the handler of atomic operations what to do.
//
// Op::a is the pointer; Op::x: in = operands, out = old values, numbers = {bytes of all elements, alignment, bytes of
// each element}, offsets = where each element lies.

#ifndef TILEJIT_SIMULATOR_CORE_ATOMICHANDLERS_H
#define TILEJIT_SIMULATOR_CORE_ATOMICHANDLERS_H

#include "core/Atomics.h"

namespace tilejit::sim {

/// Most scalars of one operation; wider loads and stores are split.
inline constexpr unsigned maxAtomicElements = 16;

/// Op::imm.
struct AtomicCode {
  AtomicOp op = AtomicOp::Load;
  bool acquire = false, release = false, resultUsed = true;
  AtomicScope scope = AtomicScope::System;
  unsigned addressSpace = 0;

  int64_t pack() const;
  static AtomicCode unpack(int64_t code);
};

Handler atomicHandler(unsigned width);
/// Op::imm: the code's acquire, release and scope.
Handler fenceHandler();

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_ATOMICHANDLERS_H
