// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which layouts tiles get and how shape operations carry them over. All rules are about bits: a side of a tile that is
// no power of two counts as the next one.

#ifndef TILEJIT_CONVERSION_TILETOTILEGPU_LAYOUTRULES_H
#define TILEJIT_CONVERSION_TILETOTILEGPU_LAYOUTRULES_H

#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"

namespace tilejit::gpu {

using tilegpu::LayoutAttr;

/// Threads of a program instance.
struct BlockShape {
  int laneBits = 5;
  int warpBits = 2;
};

/// For memory accesses: neighbouring registers (2^vectorBits of them), then lanes, follow the dimensions of `order`
/// from the fastest on; warps take the slowest dimensions, and what is left makes further registers. Threads beyond the
/// tile's elements hold copies.
LayoutAttr blockedLayout(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order,
                         int vectorBits, BlockShape block);
/// The same along the last dimension first.
LayoutAttr rowLayout(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, int vectorBits, BlockShape block);

/// For the accumulator of a product that is computed by multiply-adds: squares of up to 4 x 4 elements in neighbouring
/// registers, lanes 8 along the columns, warps over what is left.
LayoutAttr accumulatorLayout(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, BlockShape block);
/// For an operand of such a product, `depth` elements of it: each thread has all that its accumulators need. `isLeft`:
/// the operand is rows x depth, otherwise depth x columns.
LayoutAttr operandLayout(LayoutAttr accumulator, bool isLeft, int64_t depth);

/// Of the result of a reduction along `axis`.
LayoutAttr slicedLayout(LayoutAttr layout, int axis);
/// Of the tile with a dimension of size 1 inserted before `axis`.
LayoutAttr expandedLayout(LayoutAttr layout, int axis);
/// Of the operand of a broadcast to a tile with `layout`: dimensions where `source` is 1 are dropped to that.
LayoutAttr narrowedLayout(LayoutAttr layout, llvm::ArrayRef<int64_t> source);
/// Of a transposition: dimension i of the result is dimension order[i].
LayoutAttr transposedLayout(LayoutAttr layout, llvm::ArrayRef<int64_t> order);
/// The inverse permutation.
llvm::SmallVector<int64_t> inverseOrder(llvm::ArrayRef<int64_t> order);
/// The same elements in row-major order under another shape of powers of two.
LayoutAttr reshapedLayout(LayoutAttr layout, llvm::ArrayRef<int64_t> shape);
/// With a last dimension of size 2 whose index is the lowest bit of the registers, and back: null where the last
/// dimension is not in a register bit of its own.
LayoutAttr joinedLayout(LayoutAttr layout);
LayoutAttr splitLayout(LayoutAttr layout);

/// How many neighbours along dimension `dim` a warp moves by one access without gaps: up to 2^vectorBits in registers,
/// the others in lanes. Says how well memory that is contiguous along `dim` is accessed.
int64_t contiguousRun(LayoutAttr layout, int dim, int vectorBits);

} // namespace tilejit::gpu

#endif // TILEJIT_CONVERSION_TILETOTILEGPU_LAYOUTRULES_H
