// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What tile.print shows of its values, the same on every target: which elements of tiles, and what a host must know to
// turn their bits into text (CpuPrintFunction in tilejit/ABI/KernelABI.h).

#ifndef TILEJIT_CONVERSION_COMMON_PRINTEDVALUES_H
#define TILEJIT_CONVERSION_COMMON_PRINTEDVALUES_H

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include <string>

namespace tilejit {

/// Row-major numbers of the elements of a tile that are shown: all of few, else the first and last ones.
llvm::SmallVector<int64_t> printedElements(mlir::RankedTensorType tile);
/// The coordinates of an element by its row-major number.
llvm::SmallVector<int64_t> elementCoordinates(llvm::ArrayRef<int64_t> shape, int64_t number);
/// "i64 f32[64]".
std::string printedTypes(tile::PrintOp print);

} // namespace tilejit

#endif // TILEJIT_CONVERSION_COMMON_PRINTEDVALUES_H
