// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the files of scalar PTX statements know of each other.

#ifndef TILEJIT_SIMULATOR_NVIDIA_PTXRULES_H
#define TILEJIT_SIMULATOR_NVIDIA_PTXRULES_H

#include "decode/Decoder.h"

namespace tilejit::sim {

void addPtxConversionRules(Rules &rules);
void addPtxMemoryRules(Rules &rules);

/// d (I1): whether a generic pointer points into "shared", "global", "local", "const", "param".
void emitIsSpace(Decoder &decoder, llvm::StringRef space, Reg d, Reg address);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_PTXRULES_H
