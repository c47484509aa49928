// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// memcpy, memmove and memset as plain loops. LLVM may call them on its own; a payload has no library to find them in.

#ifndef TILEJIT_BACKENDS_CPU_MEMORYFUNCTIONS_H
#define TILEJIT_BACKENDS_CPU_MEMORYFUNCTIONS_H

#include <memory>
#include <string_view>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace tilejit::cpu {

/// Whether makeMemoryFunctions() defines a symbol.
bool isMemoryFunction(std::string_view name);
/// A module with all of them, hidden: linked in where an object needs one.
std::unique_ptr<llvm::Module> makeMemoryFunctions(llvm::LLVMContext &context);

} // namespace tilejit::cpu

#endif // TILEJIT_BACKENDS_CPU_MEMORYFUNCTIONS_H
