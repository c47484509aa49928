// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Fat buffer pointers (address space 7: a resource and an offset) exist in the compiler only. LLVM's own pass turns
// what is done with them into buffer intrinsics, before a kernel is decoded.

#ifndef TILEJIT_SIMULATOR_AMD_FATPOINTERS_H
#define TILEJIT_SIMULATOR_AMD_FATPOINTERS_H

#include "tilejit/Base/Status.h"

#include <memory>
#include <string_view>

namespace llvm {
class Module;
} // namespace llvm

namespace tilejit::sim {

/// Rewrites the module if it has fat pointers; `chip` is the name of its processor.
Status lowerFatPointers(std::unique_ptr<llvm::Module> &module, std::string_view chip);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_FATPOINTERS_H
