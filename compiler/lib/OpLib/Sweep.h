// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A sweep over some dimensions of a space for one program instance: what reductions, softmax and norms are made of.
// Work goes in steps of a tile of `width` elements along the last dimension of the space. Where that dimension is swept
// ("rows"), a step takes part of a row and finish() combines its lanes; where it is kept ("columns"), every lane is a
// result of its own. Tiles that a loop carries have the shape [width].

#ifndef TILEJIT_LIB_OPLIB_SWEEP_H
#define TILEJIT_LIB_OPLIB_SWEEP_H

#include "Values.h"

namespace tilejit::oplib {

/// Where a step of a sweep is.
struct Step {
  llvm::SmallVector<Value> position; ///< Index along each dimension of the space but the last.
  Value tile;                        ///< Coordinate of the tile along the last dimension.
};

class Sweep {
public:
  using Body = llvm::function_ref<Values(const Step &, ValueRange)>;
  /// Combines two lists of scalars or tiles: all of the left side, then all of the right.
  using Combine = llvm::function_ref<Values(ValueRange, ValueRange)>;

  /// The grid of a sweep over the dimensions with tag `swept`: one instance for each row, or for `width` columns.
  static llvm::SmallVector<GridDim> grid(const Space &space, int swept, int64_t width);

  /// `indices` are the instance's place in that grid.
  Sweep(KernelBuilder &b, const Space &space, int swept, int64_t width, llvm::ArrayRef<Value> indices);

  bool isRow() const { return isRow_; }
  int64_t width() const { return width_; }
  llvm::ArrayRef<int64_t> shape() const { return width_; }
  /// Whether a row is one tile, so that no loop is built.
  bool isSingleStep() const;
  /// Whether tiles may reach beyond the last dimension of the space.
  bool isRagged() const;

  /// Visits every step, carrying tiles. `first` and `last` bound the tiles along the last dimension (rows only).
  Values run(ValueRange inits, Body body, Value first = {}, Value last = {});
  /// The same for sums: partial sums of at most 256 steps are formed and then added, so that the error of a long sum
  /// stays small and small terms are not lost. All inits are zeros.
  Values runSums(ValueRange zeros, Body body, Value first = {}, Value last = {});
  /// Combines the lanes of carried tiles where they belong to one result: tiles of shape [1] or [width].
  Values finish(ValueRange carried, Combine combine);
  /// The sum of one carried tile.
  Value finishSum(Value carried);
  /// Repeats a finished tile over the lanes of a step.
  Value spread(Value finished) { return broadcastTo(b_, finished, shape()); }

  /// Values of an operand at a step, converted to what is computed with.
  Value load(int slot, const Step &step, DType compute, tile::Pad pad = tile::Pad::Zero);
  void store(int slot, const Step &step, Value value, DType from);
  /// Stores a finished tile into an operand that does not move along the swept dimensions.
  void storeFinished(int slot, Value value, DType from);
  /// Which lanes of a step lie inside the space; null where all do.
  Value inside(const Step &step);
  /// Number of elements of each result.
  Value count();
  /// Row-major index, among the swept elements, of each lane of a step; `type` is i32 or i64.
  Value linearIndex(const Step &step, mlir::Type type);
  /// The index of the first element that each lane meets when tiles start at `first`.
  Value firstIndex(mlir::Type type, Value first = {});

private:
  Values runDims(size_t next, Step &step, ValueRange inits, Body body, Value first, Value last);
  Values runLast(Step &step, ValueRange inits, Body body, Value first, Value last);
  Values runInParts(Value first, Value last, ValueRange zeros, llvm::function_ref<Values(Value, ValueRange)> body);

  KernelBuilder &b_;
  const Space &space_;
  int64_t width_;
  bool isRow_;
  bool inParts_ = false;
  llvm::SmallVector<int> sweptDims_; ///< Without the last dimension.
  Step start_;
};

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_SWEEP_H
