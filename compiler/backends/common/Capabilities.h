// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which chips have which operations, as data, and the check of a module against it. LLVM ends the process over an
// intrinsic that a chip lacks; nothing that is not in a table gets there.

#ifndef TILEJIT_BACKENDS_COMMON_CAPABILITIES_H
#define TILEJIT_BACKENDS_COMMON_CAPABILITIES_H

#include "tilejit/Target/TargetSpec.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <limits>

namespace tilejit::backends {

/// One row: operations whose name is `name`, or begins with it where it ends in '.', exist from generation `first` to
/// `last` (GpuFacts::generation). Operations of LLVM's dialect that call an intrinsic go by the intrinsic's name. Of
/// several rows with equal names each adds a range; a longer name takes precedence over a shorter one.
struct Capability {
  llvm::StringRef name;
  int first;
  int last = std::numeric_limits<int>::max();
};

/// Checks every operation in the LLVM dialect and in `dialect`. The diagnostic, at the operation, names it, the chip
/// and the chips that have it.
mlir::LogicalResult checkCapabilities(mlir::ModuleOp module, const TargetSpec &target, llvm::StringRef dialect,
                                      llvm::ArrayRef<Capability> rows);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_CAPABILITIES_H
