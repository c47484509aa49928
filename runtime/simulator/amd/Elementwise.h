// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tables of instructions that compute each lane from its own operands: a name, the kind of the first operand, handlers.

#ifndef TILEJIT_SIMULATOR_AMD_ELEMENTWISE_H
#define TILEJIT_SIMULATOR_AMD_ELEMENTWISE_H

#include "amd/Rules.h"
#include "core/Elementwise.h"

namespace tilejit::sim {

struct LaneRow {
  const char *name;     ///< Without "llvm.amdgcn." and overloaded types.
  Kind kind;            ///< Of the first argument's scalars.
  HandlerPair handlers; ///< Of at most three arguments; a last constant argument arrives as the operation's number.
  uint32_t chips = chipsAll;
};

/// Decodes a call by the row with its name and kind: scalar i of the result comes from scalar i of each argument.
void emitLaneRow(Call &call, std::span<const LaneRow> rows);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_ELEMENTWISE_H
