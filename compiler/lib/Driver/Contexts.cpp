// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One spare context for each back end, by its name.

#include "Contexts.h"

#include "tilejit/OpLib/OpLib.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringMap.h"

#include <mutex>

using namespace mlir;

namespace tilejit {

namespace {

struct Spares {
  std::mutex mutex;
  llvm::StringMap<std::unique_ptr<MLIRContext>> contexts;
};

/// Never destroyed: what contexts refer to may be gone by then.
Spares &spares() {
  static auto *all = new Spares;
  return *all;
}

llvm::StringRef keyOf(const Backend *backend) { return backend ? llvm::StringRef(backend->name()) : ""; }

} // namespace

std::unique_ptr<MLIRContext> takeContext(const Backend *backend) {
  {
    std::lock_guard lock(spares().mutex);
    if (std::unique_ptr<MLIRContext> kept = std::move(spares().contexts[keyOf(backend)]))
      return kept;
  }
  DialectRegistry registry;
  registerOpLibDialects(registry);
  if (backend)
    backend->registerDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false);
  return context;
}

void keepContext(const Backend *backend, std::unique_ptr<MLIRContext> context) {
  std::lock_guard lock(spares().mutex);
  spares().contexts[keyOf(backend)] = std::move(context);
}

} // namespace tilejit
