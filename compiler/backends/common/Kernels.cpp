// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The stages of GPU kernels up to the code generator, in their order.

#include "Kernels.h"

#include "CodeGen.h"
#include "DebugLocations.h"
#include "Optimize.h"
#include "WideProducts.h"

#include "tilejit/Transforms/MathExpansion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilejit::backends {

namespace {

LogicalResult lower(BackendJob &job, const GpuVendor &vendor) {
  const Recipient &recipient = vendor.recipient;
  // What the conversions create need not be in the source.
  job.module.getContext()
      ->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect, ::mlir::math::MathDialect,
                    scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  job.stages.begin("math");
  MathExpansionOptions math;
  math.hasFma = true;
  math.hasHalfConvert = true;
  if (failed(expandMath(job.module, math)) || failed(checkSupported(job.module, recipient)))
    return failure();
  expandWideProducts(job.module);
  job.stages.begin("llvm-dialect");
  if (failed(lowerToLLVM(job.module, recipient)))
    return failure();
  return checkCapabilities(job.module, job.target, recipient.dialect, vendor.capabilities());
}

void prepareModule(llvm::Module &module, const llvm::TargetMachine &machine, const TargetSpec &target) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  std::string features = joinFeatures(target);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!features.empty())
      function.addFnAttr("target-features", features);
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

} // namespace

void registerKernelDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect, ::mlir::math::MathDialect,
                  scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

FailureOr<OptimizedKernels> optimizeKernels(BackendJob &job, const GpuVendor &vendor) {
  if (failed(lower(job, vendor)))
    return failure();
  job.stages.begin("translate");
  if (job.withBitcode)
    keepLocations(job.module);
  OptimizedKernels kernels;
  kernels.context = std::make_unique<llvm::LLVMContext>();
  kernels.module = translateModuleToLLVMIR(job.module, *kernels.context, "kernel");
  if (!kernels.module)
    return job.module.emitError("the LLVM dialect could not be translated");
  std::string error;
  kernels.machine = vendor.makeMachine(job.target, error);
  if (!kernels.machine)
    return job.module.emitError(error);
  prepareModule(*kernels.module, *kernels.machine, job.target);
  vendor.prepare(*kernels.module, job.target);
  job.stages.begin("optimize");
  optimize(*kernels.module, *kernels.machine);
  return kernels;
}

std::string printModule(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

std::string writeBitcode(const llvm::Module &module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  return bytes;
}

} // namespace tilejit::backends
