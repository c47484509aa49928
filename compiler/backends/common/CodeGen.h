// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// LLVM's code generator for one target: its machine, and from LLVM IR to an object or to assembly.

#ifndef TILEJIT_BACKENDS_COMMON_CODEGEN_H
#define TILEJIT_BACKENDS_COMMON_CODEGEN_H

#include "tilejit/Target/TargetSpec.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
class TargetOptions;
} // namespace llvm

namespace tilejit::backends {

/// Makes the machine, for position-independent code, or null with the reason in `error`. The parts of LLVM for the
/// architecture must have been initialised.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const TargetSpec &target, const llvm::TargetOptions &options,
                                                       std::string &error);

/// Sets triple and data layout, and CPU and features of each function.
void prepareModule(llvm::Module &module, const llvm::TargetMachine &machine, const TargetSpec &target);

/// Text of the module.
std::string printModule(const llvm::Module &module);
/// The same without the places of instructions.
std::string printWithoutPlaces(const llvm::Module &module);

enum class CodeForm { Object, Assembly };
/// Runs code generation; the module is used up. Empty with the reason in `error`.
std::string generateCode(llvm::Module &module, llvm::TargetMachine &machine, CodeForm form, std::string &error);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_CODEGEN_H
