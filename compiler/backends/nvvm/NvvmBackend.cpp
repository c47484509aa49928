// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The NVIDIA back end as the driver sees it.

#include "CompileKernels.h"

#include "tilejit/Driver/Backend.h"

using namespace mlir;

namespace tilejit {

namespace {

class NvvmBackend final : public Backend {
public:
  std::string_view name() const override { return "nvvm"; }
  bool accepts(const TargetSpec &target) const override { return target.kind == TargetKind::Nvidia; }
  void registerDialects(DialectRegistry &registry) const override { nvvm::registerKernelDialects(registry); }
  FailureOr<BackendResult> compile(BackendJob job) const override { return nvvm::compileKernels(job); }
};

} // namespace

const Backend &nvvmBackend() {
  static const NvvmBackend backend;
  return backend;
}

} // namespace tilejit
