// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A GPU back end: what NVIDIA's and AMD's do alike. Tiles get layouts and become the program of one thread; that
// becomes optimised LLVM IR, which the code generator and the simulator both get. What differs is a vendor's row of
// facts and functions.

#ifndef TILEJIT_BACKENDS_COMMON_GPUBACKEND_H
#define TILEJIT_BACKENDS_COMMON_GPUBACKEND_H

#include "backends/common/Capabilities.h"
#include "backends/common/CodeGen.h"
#include "backends/common/LowerToLLVM.h"

#include "tilejit/Driver/Backend.h"

#include "llvm/IR/CallingConv.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

namespace tilejit::backends {

/// Optimised kernels with what they live in.
struct OptimizedKernels {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

/// What a vendor's back end gives to the shared stages.
struct GpuVendor {
  std::string_view backEnd; ///< "nvvm", "rocdl".
  TargetKind kind;
  bool sharedAtLaunch; ///< On-chip memory is given by the launch; otherwise the code object carries its size.
  bool hasLdexp;       ///< The code generator has an instruction for llvm.ldexp.
  llvm::CallingConv::ID kernelConvention;
  CodeForm codeForm; ///< What a package is made of.
  Recipient recipient;
  llvm::ArrayRef<Capability> (*capabilities)();
  /// The vendor's dialect and its translation.
  void (*registerDialect)(mlir::DialectRegistry &registry);
  /// The machine, or null with the reason.
  std::unique_ptr<llvm::TargetMachine> (*makeMachine)(const TargetSpec &target, std::string &error);
  /// Flags of the module and attributes of functions beyond target and features.
  void (*prepare)(llvm::Module &module, const TargetSpec &target);
  /// Generates code: the text that the job asks for, or payloads, the one that a device loads first in front, and
  /// resources. Uses the module up. Reasons for failure go to the diagnostics.
  mlir::LogicalResult (*generate)(BackendJob &job, OptimizedKernels &kernels, const abi::GpuLaunch &launch,
                                  BackendResult &result);
};

class GpuBackend final : public Backend {
public:
  explicit GpuBackend(const GpuVendor &vendor) : vendor_(vendor) {}

  std::string_view name() const override { return vendor_.backEnd; }
  bool accepts(const TargetSpec &target) const override { return target.kind == vendor_.kind; }
  void registerDialects(mlir::DialectRegistry &registry) const override;
  mlir::FailureOr<BackendResult> compile(BackendJob job) const override;

private:
  const GpuVendor vendor_;
  mutable std::atomic_flag isWarm_; ///< Code has been generated before, or is being generated.
};

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_GPUBACKEND_H
