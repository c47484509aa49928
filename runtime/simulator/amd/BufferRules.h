// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Decoding of the operands that all buffer intrinsics share.

#ifndef TILEJIT_SIMULATOR_AMD_BUFFERRULES_H
#define TILEJIT_SIMULATOR_AMD_BUFFERRULES_H

#include "amd/Buffer.h"
#include "amd/Rules.h"

namespace tilejit::sim {

/// raw or struct, with a resource pointer or four dwords; `name` is cut to what follows "buffer.".
struct BufferForm {
  bool hasIndex = false, atomicLoad = false;
  llvm::StringRef name;
};
/// False where the name is no buffer intrinsic's.
bool parseBufferName(llvm::StringRef shortName, BufferForm &form);
/// The two halves of a resource: a pointer of address space 8, or <4 x i32>.
Regs resourceRegs(Call &call, unsigned argument);
/// Registers of BufferReg: resource at `argument`, then (index,) offset, scalar offset from `next` on.
Regs locationRegs(Call &call, unsigned argument, unsigned next, bool hasIndex);
/// Flags of BufferFlag for the chip.
int64_t bufferFlags(const Decoder &decoder, bool hasIndex);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_BUFFERRULES_H
