// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Launch rules of tile kernels as the data that the runtime evaluates (ABI/GpuLaunch.h).

#ifndef TILEJIT_CONVERSION_TILEGPUTOLLVM_LAUNCHRULES_H
#define TILEJIT_CONVERSION_TILEGPUTOLLVM_LAUNCHRULES_H

#include "tilejit/ABI/GpuLaunch.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"

namespace tilejit::gpu {

/// Whether a kernel has assertions, and so a parameter for the one that failed.
bool hasAssertions(tile::KernelOp kernel);
/// Whether a kernel prints, and so has a parameter for the buffer.
bool doesPrint(tile::KernelOp kernel);
/// What the kernels of a module print, in the order of GpuLaunch::prints.
llvm::SmallVector<tile::PrintOp> printsOf(mlir::ModuleOp module);

/// Checks that the kernels of a module can be alternatives and phases of one launch.
mlir::LogicalResult checkKernels(llvm::ArrayRef<tile::KernelOp> kernels);

} // namespace tilejit::gpu

#endif // TILEJIT_CONVERSION_TILEGPUTOLLVM_LAUNCHRULES_H
