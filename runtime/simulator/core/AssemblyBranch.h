// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Branches within one inline assembly: they lead to other operations of the same basic block.

#ifndef TILEJIT_SIMULATOR_CORE_ASSEMBLYBRANCH_H
#define TILEJIT_SIMULATOR_CORE_ASSEMBLYBRANCH_H

#include "core/Program.h"

namespace tilejit::sim {

/// Goes `imm` operations on (or back), in lanes where the I1 register a holds (b = 1: where it does not); everywhere
/// when b is 2.
Handler assemblyBranchHandler(unsigned width);
/// Stands at a label: lane groups that wait right behind it are taken along.
Handler assemblyLabelHandler(unsigned width);
/// Does nothing. Its operands live until here, or from here on.
Handler assemblyLifetimeHandler(unsigned width);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_ASSEMBLYBRANCH_H
