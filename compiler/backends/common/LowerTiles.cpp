// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The passes from tiles to threads, in two steps with the launch rules read between them.

#include "LowerTiles.h"

#include "ExplainLayouts.h"

#include "tilejit/Conversion/GpuLaunchRules.h"
#include "tilejit/Conversion/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilejit::backends {

static LogicalResult run(ModuleOp module, llvm::function_ref<void(PassManager &)> build) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  manager.enableVerifier(false);
  build(manager);
  return manager.run(module);
}

FailureOr<abi::GpuLaunch> lowerTiles(BackendJob &job, bool sharedAtLaunch) {
  const TargetSpec &target = job.target;
  job.stages.begin("layouts");
  if (failed(checkGpuKernels(job.module)) || failed(run(job.module, [&](PassManager &manager) {
        buildTileToTileGPUPipeline(manager, target, /*warps=*/0); // Kernels bring hints.
      })))
    return failure();
  abi::GpuLaunch launch = describeGpuLaunch(job.module, sharedAtLaunch);
  if (job.texts)
    explainLayouts(job.module, *job.texts);
  if (job.emit == abi::EmitKind::TileGpu)
    return launch;
  job.stages.begin("lowering");
  if (failed(run(job.module, [&](PassManager &manager) { buildTileGPUToLLVMPipeline(manager, target); })))
    return failure();
  return launch;
}

std::string printTiles(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

} // namespace tilejit::backends
