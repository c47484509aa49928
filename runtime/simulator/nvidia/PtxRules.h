// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the files of scalar PTX statements know of each other.

#ifndef TILEJIT_SIMULATOR_NVIDIA_PTXRULES_H
#define TILEJIT_SIMULATOR_NVIDIA_PTXRULES_H

#include "core/Atomics.h"
#include "decode/Decoder.h"

#include <optional>

namespace tilejit::sim {

void addPtxConversionRules(Rules &rules);
void addPtxMemoryRules(Rules &rules);

/// The operation behind PTX's name for it ("add", "cas"), on elements of this class; nothing for an unknown name.
std::optional<AtomicOp> atomicOperation(llvm::StringRef name, bool isFloat, bool isSigned);
/// d (I1): whether a generic pointer points into "shared", "global", "local", "const", "param".
void emitIsSpace(Decoder &decoder, llvm::StringRef space, Reg d, Reg address);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_PTXRULES_H
