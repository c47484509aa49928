// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// MLIR contexts that outlive a compile. To make one and to load its dialects takes as long as all that is done with the
// tiles of a small kernel. A context holds what was uniqued in it; a worker that has grown too large is replaced.

#ifndef TILEJIT_LIB_DRIVER_CONTEXTS_H
#define TILEJIT_LIB_DRIVER_CONTEXTS_H

#include "tilejit/Driver/Driver.h"

#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace tilejit {

/// A context for the compiles of one back end; for tile programs alone where that is null. Nobody else has it.
std::unique_ptr<mlir::MLIRContext> takeContext(const Backend *backend);

/// Keeps a context for the next takeContext() of the same back end. What a crash leaves behind must not come back.
void keepContext(const Backend *backend, std::unique_ptr<mlir::MLIRContext> context);

} // namespace tilejit

#endif // TILEJIT_LIB_DRIVER_CONTEXTS_H
