// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the forms of a product share: how operands are converted, the multiply-add, how far a product has to go.

#ifndef TILEJIT_CONVERSION_TILETOCPU_DOT_H
#define TILEJIT_CONVERSION_TILETOCPU_DOT_H

#include "KernelLowering.h"

#include "../Common/OperandParts.h"

namespace tilejit::cpu {

/// Products with up to so many rows have a form of their own.
inline constexpr int64_t skinnyRows = 4;

/// A product that is being lowered: result[m x n] += a[m x k] * b[k x n] in scratch memory.
struct Product {
  KernelLowering &l;
  tile::DotOp op;
  int64_t m, n, k;
  mlir::Type compute;         ///< f32, f64 or i32.
  Index rows, columns, depth; ///< How much of m, n and k can make a difference.
  mlir::Value result;         ///< The accumulator's memory.
  int64_t resultStride;       ///< Elements from row to row.
  bool startsAtZero = false;  ///< The accumulator is zero and its memory not yet written.

  Product(KernelLowering &l, tile::DotOp op);
  /// Whether it is done without packing B.
  bool isSkinny() const { return m <= skinnyRows; }
  /// Whether every element of the result is computed, whatever the sizes.
  bool coversAll() const { return !isSkinny() && rows.is(m) && columns.is(n); }
  /// Lanes of `compute` of an operand's lanes.
  mlir::Value convert(mlir::Value value, bool isUnsigned);
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value sum);
  mlir::Value zero(mlir::Type type);
  mlir::VectorType vectorType() { return l.e.vector(compute, l.lanes); }
  int64_t elementBytes() { return byteSize(compute); }
};

/// MR x NR elements of the result that a microkernel keeps in registers.
struct RegisterTile {
  int64_t rows, columns;
};
/// Of up to `mostVectors` vectors of columns. What is left of n is done by tiles of one vector.
RegisterTile chooseRegisterTile(const CpuModel &model, int64_t lanes, int64_t m, int64_t mostVectors, int64_t n);

/// The load that a matrix in memory is computed from elementwise, if its rows lie without gaps.
tile::LoadOp matrixLoad(KernelLowering &l, mlir::Value tile);
/// Whether rows [0, rows) and columns [column, column + columns), up to whole vectors (squares where it is written as a
/// transposition), lie inside a matrix and the views that it is loaded from; null: known to.
mlir::Value isInside(KernelLowering &l, mlir::Value tile, Index rows, Index column, Index columns);

/// A and B packed, register tiles: for more than a few rows.
mlir::LogicalResult lowerBlockedProduct(Product &product);
/// B read once where it lies: for up to `skinnyRows` rows.
mlir::LogicalResult lowerSkinnyProduct(Product &product);
/// B in scratch memory, read there.
bool readsInPlace(KernelLowering &l, tile::DotOp op);
mlir::LogicalResult lowerProductInPlace(KernelLowering &l, tile::DotOp op);

} // namespace tilejit::cpu

#endif // TILEJIT_CONVERSION_TILETOCPU_DOT_H
