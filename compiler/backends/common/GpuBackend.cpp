// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The stages of GPU kernels in their order.

#include "GpuBackend.h"

#include "CodeGen.h"
#include "DebugLocations.h"
#include "LowerTiles.h"
#include "Machines.h"
#include "Optimize.h"
#include "WarmUp.h"
#include "WideProducts.h"

#include "tilejit/Transforms/MathExpansion.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilejit::backends {

namespace {

LogicalResult lower(BackendJob &job, const GpuVendor &vendor) {
  const Recipient &recipient = vendor.recipient;
  loadLoopDialects(*job.module.getContext());
  job.stages.begin("math");
  MathExpansionOptions math;
  math.hasFma = true;
  math.hasHalfConvert = true;
  math.leavesBf16 = true;
  math.hasLdexp = vendor.hasLdexp;
  if (failed(expandMath(job.module, math)) || failed(checkSupported(job.module, recipient)))
    return failure();
  expandWideProducts(job.module);
  job.stages.begin("llvm-dialect");
  if (failed(lowerToLLVM(job.module, recipient)))
    return failure();
  return checkCapabilities(job.module, job.target, recipient.dialect, vendor.capabilities());
}

/// Expands math, converts, translates, optimises.
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
  kernels.machine = takeMachine(vendor, job.target, error);
  if (!kernels.machine)
    return job.module.emitError(error);
  prepareModule(*kernels.module, *kernels.machine, job.target);
  vendor.prepare(*kernels.module, job.target);
  job.stages.begin("optimize");
  optimize(*kernels.module, *kernels.machine, job.target.gpuFacts);
  return kernels;
}

std::string writeBitcode(const llvm::Module &module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  return bytes;
}

} // namespace

void GpuBackend::registerDialects(DialectRegistry &registry) const {
  registerLoopDialects(registry);
  vendor_.registerDialect(registry);
}

FailureOr<BackendResult> GpuBackend::compile(BackendJob job) const {
  BackendResult result;
  std::jthread warming;
  if (job.emit != abi::EmitKind::TileGpu && job.emit != abi::EmitKind::Llvm && !isWarm_.test_and_set())
    warming = warmUp(vendor_, job.target);
  FailureOr<abi::GpuLaunch> launch = lowerTiles(job, vendor_.sharedAtLaunch);
  if (failed(launch))
    return failure();
  if (job.emit == abi::EmitKind::TileGpu) {
    result.text = printTiles(job.module);
    return result;
  }
  FailureOr<OptimizedKernels> kernels = optimizeKernels(job, vendor_);
  if (failed(kernels))
    return failure();
  if (job.emit == abi::EmitKind::Llvm) {
    result.text = printModule(*kernels->module);
    result.gpu = std::move(*launch);
    return result;
  }
  std::string bitcode; // Before code generation uses the module up.
  if (abi::isPackage(job.emit) && job.withBitcode)
    bitcode = writeBitcode(*kernels->module);
  if (job.texts)
    job.texts->llvm = printWithoutPlaces(*kernels->module);
  job.stages.begin("codegen");
  if (failed(vendor_.generate(job, *kernels, *launch, result)))
    return failure();
  keepMachine(job.target, std::move(kernels->machine));
  if (!bitcode.empty())
    result.payloads.push_back({abi::PayloadKind::Bitcode, std::move(bitcode)});
  result.gpu = std::move(*launch);
  return result;
}

} // namespace tilejit::backends
