// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The NVIDIA back end as the driver sees it.

#include "CompileKernels.h"

#include "backends/common/LowerTiles.h"

#include "tilejit/Driver/Backend.h"

using namespace mlir;

namespace tilejit {

namespace {

class NvvmBackend final : public Backend {
public:
  std::string_view name() const override { return "nvvm"; }
  bool accepts(const TargetSpec &target) const override { return target.kind == TargetKind::Nvidia; }
  void registerDialects(DialectRegistry &registry) const override { nvvm::registerKernelDialects(registry); }
  FailureOr<BackendResult> compile(BackendJob job) const override {
    FailureOr<abi::GpuLaunch> launch = backends::lowerTiles(job, /*sharedAtLaunch=*/true);
    if (failed(launch))
      return failure();
    if (job.emit == abi::EmitKind::TileGpu) {
      BackendResult result;
      result.text = backends::printTiles(job.module);
      return result;
    }
    FailureOr<BackendResult> result = nvvm::compileKernels(job, *launch);
    if (succeeded(result))
      result->gpu = std::move(*launch);
    return result;
  }
};

} // namespace

const Backend &nvvmBackend() {
  static const NvvmBackend backend;
  return backend;
}

} // namespace tilejit
