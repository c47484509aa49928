// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The arguments of the kernels of a module, which are alternatives and phases of one launch, and the slots they travel
// in (tilejit/ABI/KernelABI.h).

#ifndef TILEJIT_CONVERSION_COMMON_KERNELARGUMENTS_H
#define TILEJIT_CONVERSION_COMMON_KERNELARGUMENTS_H

#include "tilejit/Dialect/Tile/IR/Tile.h"

namespace tilejit {

/// Checks that all kernels take the operands of the first; the workspace is an argument only of those that use it.
mlir::LogicalResult checkSameOperands(llvm::ArrayRef<tile::KernelOp> kernels);

/// One of the sizes that a launch rule counts as d0, d1, ...: known, or in a slot.
struct RuleSize {
  int64_t slot = -1; ///< -1: known.
  int64_t known = 0;
};
/// The sizes of a kernel's launch rule, in their order.
llvm::SmallVector<RuleSize> ruleSizes(tile::KernelOp kernel);

} // namespace tilejit

#endif // TILEJIT_CONVERSION_COMMON_KERNELARGUMENTS_H
