// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The AMD back end as the driver sees it.

#include "CompileKernels.h"

#include "tilejit/Driver/Backend.h"

using namespace mlir;

namespace tilejit {

namespace {

class RocdlBackend final : public Backend {
public:
  std::string_view name() const override { return "rocdl"; }
  bool accepts(const TargetSpec &target) const override { return target.kind == TargetKind::Amd; }
  void registerDialects(DialectRegistry &registry) const override { rocdl::registerKernelDialects(registry); }
  FailureOr<BackendResult> compile(BackendJob job) const override { return rocdl::compileKernels(job); }
};

} // namespace

const Backend &rocdlBackend() {
  static const RocdlBackend backend;
  return backend;
}

} // namespace tilejit
