// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What GPU back ends do alike: kernels on scf, arith, math, vector, llvm and the vendor's dialect become optimised LLVM
// IR. The module that comes out is the one that the code generator and the simulator get.

#ifndef TILEJIT_BACKENDS_COMMON_KERNELS_H
#define TILEJIT_BACKENDS_COMMON_KERNELS_H

#include "backends/common/Capabilities.h"
#include "backends/common/LowerToLLVM.h"

#include "tilejit/Driver/Backend.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace tilejit::backends {

/// What a vendor's back end gives to the shared stages.
struct GpuVendor {
  Recipient recipient;
  llvm::ArrayRef<Capability> (*capabilities)();
  /// The machine, or null with the reason.
  std::unique_ptr<llvm::TargetMachine> (*makeMachine)(const TargetSpec &target, std::string &error);
  /// Flags of the module and attributes of functions beyond target and features.
  void (*prepare)(llvm::Module &module, const TargetSpec &target);
};

/// Optimised kernels with what they live in.
struct OptimizedKernels {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

/// Dialects and translations that optimizeKernels() needs, the vendor's own aside.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Expands math, converts, translates, optimises. Reasons for failure go to the diagnostics.
mlir::FailureOr<OptimizedKernels> optimizeKernels(BackendJob &job, const GpuVendor &vendor);

/// Text of the module.
std::string printModule(const llvm::Module &module);
/// Bitcode of the module, before code generation uses it up.
std::string writeBitcode(const llvm::Module &module);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_KERNELS_H
