// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// LLVM's code generator with the options of a CPU. No optimisation pipeline: the IR arrives tiled, unrolled and
// vectorised, and LLVM's middle end finds nothing there that is worth its time.

#ifndef TILEJIT_BACKENDS_CPU_CODEGEN_H
#define TILEJIT_BACKENDS_CPU_CODEGEN_H

#include "tilejit/Target/TargetSpec.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tilejit::cpu {

/// The machine of a target, or null with the reason in `error`. Initialises the parts of LLVM for that architecture
/// and for no other.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const TargetSpec &target, std::string &error);

/// Sets triple, data layout and each function's attributes.
void prepareModule(llvm::Module &module, const llvm::TargetMachine &machine, const TargetSpec &target);

} // namespace tilejit::cpu

#endif // TILEJIT_BACKENDS_CPU_CODEGEN_H
