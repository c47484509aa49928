// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The operator library: from a validated description, a target and a config to a module of tile kernels. Choosing a
// config can refuse what a user gave; building never fails. Knows nothing of how the kernels are compiled.

#ifndef TILEJIT_OPLIB_OPLIB_H
#define TILEJIT_OPLIB_OPLIB_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Description/Description.h"
#include "tilejit/Target/TargetSpec.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace tilejit {

/// Registers every dialect that buildModule() uses.
void registerOpLibDialects(mlir::DialectRegistry &registry);

/// The complete config of an operator: what `given` says, and a choice for each key that it leaves out.
/// InvalidArgument for unknown keys, values out of range, and keys that the target has no use for.
Expected<abi::Config> chooseConfig(const Description &description, const TargetSpec &target, const abi::Config &given);

/// The kernels of an operator. They are alternatives and phases of one launch (see `#tile.launch`) and take the same
/// arguments: the operands in canonical order as views, and where they use it the workspace. Places in the IR name the
/// part of the description that an operation comes from (`epilogue/1`). `config` is what chooseConfig() gave.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(mlir::MLIRContext &context, const Description &description,
                                              const TargetSpec &target, const abi::Config &config);

/// In which order sums of this operator are formed, for people; empty where nothing is summed.
std::string reductionOrder(const Description &description, const TargetSpec &target, const abi::Config &config);

} // namespace tilejit

#endif // TILEJIT_OPLIB_OPLIB_H
