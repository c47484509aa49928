// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The arithmetic of one reduction: what is carried, how it is combined, what comes out. Knows nothing of loops.

#ifndef TILEJIT_LIB_OPLIB_REDUCER_H
#define TILEJIT_LIB_OPLIB_REDUCER_H

#include "Shapes.h"
#include "Values.h"

namespace tilejit::oplib {

/// State of a reduction: one tile of values, and for argmax and argmin one of indices.
class Reducer {
public:
  explicit Reducer(KernelBuilder &b);

  bool isArg() const { return oplib::isArg(kind_); }
  /// Whether partial results are added.
  bool isSum() const { return kind_ == ReduceKind::Sum || kind_ == ReduceKind::Mean; }
  /// The type that elements are converted to and combined in.
  DType compute() const { return compute_; }
  /// i32 or i64, whichever holds all indices.
  mlir::Type indexType() const;
  /// What a load puts where there is no element; in x's type, and for carried values in memory.
  tile::Pad pad() const;

  /// State of a shape before the first element. `indices`: that of each lane's first element.
  Values start(llvm::ArrayRef<int64_t> shape, Value indices = {});
  /// Adds elements; they come later than all that went in before.
  Values append(ValueRange state, Value elements, Value indices = {});
  /// Combines two states; of scalars or tiles.
  Values combine(ValueRange left, ValueRange right);
  /// The result of type `resultType()` from a state over `count` elements.
  Value finish(ValueRange state, Value count);
  DType resultType() const;

private:
  bool findsLargest() const { return kind_ == ReduceKind::Max || kind_ == ReduceKind::ArgMax; }
  Value combineValues(Value left, Value right);
  Value isBetter(Value candidate, Value best);

  KernelBuilder &b_;
  ReduceKind kind_;
  DType input_, output_, compute_;
  bool wideIndex_ = false;
};

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_REDUCER_H
