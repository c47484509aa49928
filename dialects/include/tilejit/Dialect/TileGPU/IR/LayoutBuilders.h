// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Layouts of whole tiles: blocked ones for coalesced access, matrix-instruction fragments repeated over a tile, and
// tiles in memory, plain or in the swizzle modes of NVIDIA's tensor copies. Every layout here covers its tile; where
// there are more places than elements, the rest are copies.

#ifndef TILEJIT_DIALECT_TILEGPU_IR_LAYOUTBUILDERS_H
#define TILEJIT_DIALECT_TILEGPU_IR_LAYOUTBUILDERS_H

#include "tilejit/Dialect/TileGPU/IR/LinearLayout.h"

namespace tilejit::tilegpu {

/// A blocked layout: each thread has a box of elements, the threads of a warp form a grid of boxes, the warps one of
/// those grids; what is missing to the tile is repeated in registers. All counts are powers of two, one for each
/// dimension.
struct BlockedShape {
  std::vector<int64_t> perThread, threadsPerWarp, warps;
  /// Dimensions, the fastest first: the order in which registers, lanes and warps run over their boxes.
  std::vector<int> order;
};

/// From (register, lane, warp) to a tile of this shape.
LinearLayout blockedLayout(const BlockedShape &blocked, const std::vector<int64_t> &shape);

/// The blocked layout with which a tile in global memory is moved: along order[0], the dimension that is contiguous
/// there, each thread has up to 16 bytes (fewer if the tile has too few elements for all threads), lanes and then warps
/// continue along it, then along the next dimensions.
LinearLayout coalescedLayout(const std::vector<int64_t> &shape, const std::vector<int> &order, int elementBits,
                             int laneBits, int warpBits);

/// The registers of each thread as vectors of elements that follow each other along a dimension, at most 2^maxLog in
/// each: all of equal length, in ascending order, beginning at a multiple of the length in every thread. `layout` is
/// over register, lane and warp; registers that are copies are left out.
std::vector<std::vector<unsigned>> vectorsAlong(const LinearLayout &layout, int axis, int maxLog);

/// Some bits of the warp number that run over one dimension of a tile, or (axis kCopies) that hold copies, as those
/// warps do that share an operand.
struct WarpBits {
  static constexpr int kCopies = -1;
  int axis;
  int bits;
};

/// Repeats a fragment over a tile of this shape with as many dimensions: its own warps first, then `warps`, lowest bits
/// first; what is missing is repeated in registers, dimensions in the given order (the default: last dimension first).
/// The tile must be at least as large as the fragment in each dimension.
LinearLayout repeatedLayout(const LinearLayout &fragment, const std::vector<WarpBits> &warps,
                            const std::vector<int64_t> &shape, std::vector<int> order = {});

/// From `offset`, in elements, to the tile: row-major.
LinearLayout rowMajorMemory(const std::vector<int64_t> &shape);

/// From `offset`, in elements, to a matrix of elementBits (8 to 64) as tensor copies with a swizzle of 32, 64 or 128
/// bytes lay it out: boxes as wide as the swizzle, one after the other, in which address bits 4.. are xored with
/// bits 7.. (PTX ISA, "Swizzling modes"). The columns must fill whole boxes.
LinearLayout swizzledMemory(int64_t rows, int64_t columns, int elementBits, int swizzleBytes);

} // namespace tilejit::tilegpu

#endif // TILEJIT_DIALECT_TILEGPU_IR_LAYOUTBUILDERS_H
