// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tiles of numbers: loading and storing them, constants, conversion between the dtypes of descriptions. A value of
// dtype bool is a tile of i1, one of i4 or u4 a tile of i8 (extended); memory holds all three as bytes.

#ifndef TILEJIT_LIB_OPLIB_VALUES_H
#define TILEJIT_LIB_OPLIB_VALUES_H

#include "KernelBuilder.h"

namespace tilejit::oplib {

/// The element type of values of a dtype.
mlir::Type valueType(mlir::MLIRContext *context, DType dtype);
/// What arithmetic on a dtype is done in: f64 for f64, f32 for the other floating types, else the dtype itself.
DType computeType(DType dtype);
mlir::RankedTensorType tileType(KernelBuilder &b, llvm::ArrayRef<int64_t> shape, DType dtype);
llvm::ArrayRef<int64_t> shapeOf(Value tile);

/// A tile with the same number everywhere; in the second form of the type of `like`.
Value splat(KernelBuilder &b, llvm::ArrayRef<int64_t> shape, DType dtype, double value);
Value splatLike(KernelBuilder &b, Value like, double value);
/// The larger of two floats, `y` where one is NaN: for softmax and its kin, whose sums tell of NaN.
Value larger(KernelBuilder &b, Value x, Value y);
/// x, and 0 where it is -inf.
Value finiteOrZero(KernelBuilder &b, Value x);
/// 1 / x, and 1 where it is 0.
Value inverseOfSum(KernelBuilder &b, Value x);
/// Combines the elements along an axis of a tile, which the result lacks.
Value reduceAlong(KernelBuilder &b, Value tile, int axis, llvm::function_ref<Value(Value, Value)> combine);
Value splatIntLike(KernelBuilder &b, Value like, int64_t value);
Value splatInt(KernelBuilder &b, mlir::RankedTensorType type, int64_t value);
/// A tile of integers with the same index everywhere.
Value splatIndex(KernelBuilder &b, mlir::RankedTensorType type, Value index);

/// Rounding to nearest even, toward zero from floating types to integers; see the cast family.
Value convert(KernelBuilder &b, Value value, DType from, DType to, bool saturate = false);

/// Loads a tile as values of `dtype`. A tile that fits the view's size at every coordinate is loaded without padding.
Value load(KernelBuilder &b, Value view, ValueRange coordinates, llvm::ArrayRef<int64_t> shape, DType dtype,
           tile::Pad pad = tile::Pad::Zero, bool inside = false);
/// Stores values of `dtype`.
void store(KernelBuilder &b, Value value, Value view, ValueRange coordinates, DType dtype);
/// Repeats dimensions of size 1; unchanged where the shape is right already.
Value broadcastTo(KernelBuilder &b, Value value, llvm::ArrayRef<int64_t> shape);

/// Which of `tile` lanes have a number below an index: i1 of shape [tile].
Value lanesBelow(KernelBuilder &b, Value index, int64_t tile);
/// Which lanes of a tile at a coordinate along a size lie inside it: i1 of shape [tile].
Value lanesInside(KernelBuilder &b, const Size &size, Value coordinate, int64_t tile);
/// Whether every tile of `tile` elements along a size lies inside it.
bool tilesEvenly(const Description &description, const Size &size, int64_t tile);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_VALUES_H
