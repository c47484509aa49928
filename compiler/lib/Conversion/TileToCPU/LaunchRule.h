// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The two functions that the runtime calls: which kernels run for the actual sizes, over how many program instances,
// and the dispatch of tasks to them.

#ifndef TILEJIT_CONVERSION_TILETOCPU_LAUNCHRULE_H
#define TILEJIT_CONVERSION_TILETOCPU_LAUNCHRULE_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"

namespace tilejit::cpu {

/// A kernel and the function that it became: (slots, grid x, y, z, begin, end, shared scratch, thread scratch) -> i64.
struct LoweredKernel {
  mutable tile::KernelOp kernel; ///< A handle; MLIR's accessors are not const.
  mlir::LLVM::LLVMFuncOp function;
  int64_t scratchBytes = 0;
};

/// Declares the function of a kernel, with an empty entry block.
mlir::LLVM::LLVMFuncOp declareKernelFunction(mlir::OpBuilder &builder, tile::KernelOp kernel);
/// Whether the phases fit the ABI.
mlir::LogicalResult checkLaunchRules(mlir::ArrayRef<tile::KernelOp> kernels);
void emitPlan(mlir::OpBuilder &builder, mlir::Location loc, mlir::ArrayRef<LoweredKernel> kernels);
void emitRun(mlir::OpBuilder &builder, mlir::Location loc, mlir::ArrayRef<LoweredKernel> kernels);

} // namespace tilejit::cpu

#endif // TILEJIT_CONVERSION_TILETOCPU_LAUNCHRULE_H
