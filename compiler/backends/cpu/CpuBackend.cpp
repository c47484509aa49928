// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The CPU back end as the driver sees it: tile kernels to loops on vectors, and those to the payload.

#include "CompileLoops.h"

#include "backends/common/LowerToLLVM.h"
#include "tilejit/Conversion/Passes.h"
#include "tilejit/Driver/Backend.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tilejit {

namespace {

class CpuBackend final : public Backend {
public:
  std::string_view name() const override { return "cpu"; }
  bool accepts(const TargetSpec &target) const override { return target.isCpu(); }
  void registerDialects(DialectRegistry &registry) const override { backends::registerLoopDialects(registry); }

  FailureOr<BackendResult> compile(BackendJob job) const override {
    job.stages.begin("lowering");
    PassManager manager(job.module.getContext(), ModuleOp::getOperationName());
    manager.enableVerifier(false);
    buildTileToCPUPipeline(manager, job.target.cpuFacts);
    if (failed(manager.run(job.module)))
      return failure();
    return cpu::compileLoops(job);
  }
};

} // namespace

const Backend &cpuBackend() {
  static const CpuBackend backend;
  return backend;
}

} // namespace tilejit
