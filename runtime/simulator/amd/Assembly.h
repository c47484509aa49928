// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Inline assembly of AMD code: scalar control instructions and a few vector ones.

#ifndef TILEJIT_SIMULATOR_AMD_ASSEMBLY_H
#define TILEJIT_SIMULATOR_AMD_ASSEMBLY_H

namespace llvm {
class CallBase;
} // namespace llvm

namespace tilejit::sim {

class Decoder;

/// Decodes a call of inline assembly. False after Decoder::fail, which names the instruction.
bool decodeAmdAssembly(Decoder &decoder, llvm::CallBase &call);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_ASSEMBLY_H
