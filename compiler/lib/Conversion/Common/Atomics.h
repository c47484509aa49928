// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Atomic updates of the tile dialect in LLVM's terms.

#ifndef TILEJIT_CONVERSION_COMMON_ATOMICS_H
#define TILEJIT_CONVERSION_COMMON_ATOMICS_H

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tilejit {

mlir::LLVM::AtomicOrdering orderingOf(tile::MemoryOrder order);
/// What a compare and exchange that fails is ordered by.
mlir::LLVM::AtomicOrdering failureOrdering(mlir::LLVM::AtomicOrdering ordering);
/// The instruction of an update on integers.
mlir::LLVM::AtomicBinOp integerKind(tile::AtomicKind kind);

} // namespace tilejit

#endif // TILEJIT_CONVERSION_COMMON_ATOMICS_H
