// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A sweep over the dimensions of a space with tag `swept`, for one program instance: what reductions, softmax and norms
// are made of. Work goes in steps of a tile along the last dimension of the space. Where that dimension is swept
// ("rows"), a step takes part of a row and finish() combines its lanes; where it is kept ("columns"), every lane is a
// result of its own. A tile of more than one row also runs along sweepAcross(): an instance then has several rows, or
// several elements of each column at a time. Tiles that a loop carries have the shape [columns] or [rows, columns].

#ifndef TILEJIT_LIB_OPLIB_SWEEP_H
#define TILEJIT_LIB_OPLIB_SWEEP_H

#include "Schedule.h"
#include "Values.h"

namespace tilejit::oplib {

/// Where a step of a sweep is.
struct Step {
  /// Index along each dimension of the space; along those of the tile its coordinate there.
  llvm::SmallVector<Value> position;
};

class Sweep {
public:
  using Body = llvm::function_ref<Values(const Step &, ValueRange)>;
  /// Combines two lists of scalars or tiles: all of the left side, then all of the right.
  using Combine = llvm::function_ref<Values(ValueRange, ValueRange)>;

  /// The grid of a sweep: one instance for each tile of results.
  static llvm::SmallVector<GridDim> grid(const Space &space, TileSize tile);

  /// Builds the kernel of a regime with its share of the range of lengths. Where there are several, its name says up to
  /// which length it is taken.
  static void kernel(KernelBuilder &b, llvm::StringRef name, const Space &space, const SweepRegime &regime,
                     llvm::function_ref<void(llvm::ArrayRef<Value>)> body);

  /// `indices` are the instance's place in that grid.
  Sweep(KernelBuilder &b, const Space &space, const SweepRegime &regime, llvm::ArrayRef<Value> indices);

  llvm::ArrayRef<int64_t> shape() const { return shape_; }
  /// The dimensions of the space that tiles run along: the last, where there are rows after another one.
  llvm::ArrayRef<int> tileDims() const { return tileDims_; }
  /// Index along each dimension of the space of the instance's results; null along those that are swept.
  llvm::ArrayRef<Value> place() const { return start_.position; }
  /// The swept dimension that a tile takes several elements of; -1: none.
  int along() const { return along_; }
  /// The size of tiles along it.
  int64_t width() const;
  /// Whether one tile covers all that is swept, so that no loop is built.
  bool isSingleStep() const { return isSingleStep_; }

  /// Visits every step, carrying tiles. `first` and `last` bound the tiles along along().
  Values run(ValueRange inits, Body body, Value first = {}, Value last = {});
  /// The same for sums: partial sums of at most 256 steps are formed and then added, so that the error of a long sum
  /// stays small and small terms are not lost. All inits are zeros.
  Values runSums(ValueRange zeros, Body body, Value first = {}, Value last = {});
  /// Combines the lanes of carried tiles that belong to one result: their number along along() becomes 1.
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
  /// Which elements of a step are among those that are swept; null where all are.
  Value inside(const Step &step);
  /// Number of elements of each result.
  Value count();
  /// Row-major index, among the swept elements, of each lane of a step; `type` is i32 or i64.
  Value linearIndex(const Step &step, mlir::Type type);
  /// The index of the first element that each lane meets when tiles start at `first`.
  Value firstIndex(mlir::Type type, Value first = {});

private:
  Values runDims(size_t next, Step &step, ValueRange inits, Body body, Value first, Value last);
  Values runTiles(Step &step, ValueRange inits, Body body, Value first, Value last);
  Values runInParts(Value first, Value last, ValueRange zeros, llvm::function_ref<Values(Value, ValueRange)> body);
  int64_t tileSize(int dim) const;
  bool tilesEvenly(int dim) const;
  Value alongTile(Value vector);

  KernelBuilder &b_;
  const Space &space_;
  llvm::SmallVector<int, 2> tileDims_;
  llvm::SmallVector<int64_t, 2> shape_;
  int along_ = -1;
  bool isSingleStep_ = false, inParts_ = false;
  llvm::SmallVector<int> loopDims_; ///< Swept dimensions but along().
  Step start_;
};

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_SWEEP_H
