// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What every back end is: a module of tile kernels and a target in, a payload out. The driver picks one from a table by
// the target and knows nothing else about it. A back end refuses what does not fit before LLVM sees it; it never aborts
// and never prints.

#ifndef TILEJIT_DRIVER_BACKEND_H
#define TILEJIT_DRIVER_BACKEND_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/ABI/StageTexts.h"
#include "tilejit/Driver/Stages.h"
#include "tilejit/Target/TargetSpec.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tilejit {

struct BackendJob {
  mlir::ModuleOp module; ///< Tile kernels; what is left of it afterwards is of no use.
  const TargetSpec &target;
  abi::EmitKind emit;        ///< Packages and Object: payloads; the others: text.
  const abi::Config &config; ///< Complete for a description; empty for a tile file.
  bool withBitcode;          ///< Packages: add the optimised bitcode (GPU back ends).
  Stages &stages;
  abi::StageTexts *texts = nullptr; ///< Explained: where the back end leaves its forms of the kernel.
};

struct BackendResult {
  std::vector<abi::Payload> payloads;       ///< Package: what a device loads first, then other forms; Object: one.
  std::string text;                         ///< The other kinds.
  std::map<std::string, int64_t> resources; ///< code_bytes, stack_bytes, ...
  abi::GpuLaunch gpu;                       ///< GPU targets.
};

class Backend {
public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual bool accepts(const TargetSpec &target) const = 0;
  /// Dialects, interfaces and translations that compile() needs in the module's context.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  /// Reasons for failure go to the context's diagnostics, at the operation at fault.
  virtual mlir::FailureOr<BackendResult> compile(BackendJob job) const = 0;
};

/// The CPU, NVIDIA and AMD back ends.
const Backend &cpuBackend();
const Backend &nvvmBackend();
const Backend &rocdlBackend();

} // namespace tilejit

#endif // TILEJIT_DRIVER_BACKEND_H
