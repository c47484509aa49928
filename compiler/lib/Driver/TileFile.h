// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A .mlir file of tile IR as a source: what its kernels say about operands and launch.

#ifndef TILEJIT_LIB_DRIVER_TILEFILE_H
#define TILEJIT_LIB_DRIVER_TILEFILE_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilejit {

/// Checks that a module is what a launch needs: at least one kernel, nothing beside kernels, one list of arguments for
/// all, launch rules for all or for none. Emits a diagnostic where not.
mlir::LogicalResult checkTileModule(mlir::ModuleOp module);
/// The operand that a kernel of the module packs once; nothing: none does.
std::optional<abi::PackedOperand> packedOperand(mlir::ModuleOp module);
/// Fills operands, op, paths and hasLaunchRule from the kernels.
void describeKernels(mlir::ModuleOp module, abi::Manifest &manifest);
/// Names of the kernels, in the module's order.
std::vector<std::string> kernelNames(mlir::ModuleOp module);
/// Message and place of each assertion, in the order in which the conversion numbers them.
std::vector<std::string> assertionTexts(mlir::ModuleOp module);

} // namespace tilejit

#endif // TILEJIT_LIB_DRIVER_TILEFILE_H
