// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the instances that share the keys of a query leave in the workspace, and the kernel that puts it together. For
// each row (queries of all heads of all batches, one after the other) and each part: the weighted values, then for all
// rows the largest scores, then the sums of exponentials.

#ifndef TILEJIT_LIB_OPLIB_ATTENTIONMERGE_H
#define TILEJIT_LIB_OPLIB_ATTENTIONMERGE_H

#include "Schedule.h"
#include "Values.h"

namespace tilejit::oplib {

/// What one part of the keys gives: columns of largest scores and of sums of exponentials, and the weighted values,
/// both relative to the largest score.
struct AttentionState {
  Value maximum, sum, values;
};

/// The workspace.
class AttentionParts {
public:
  AttentionParts(KernelBuilder &b, const AttentionShape &shape, int64_t split);

  mlir::AffineExpr bytes(const AttentionRegime &regime);
  /// Stores what one part gave for block `block` of the rows of a head.
  void store(const AttentionRegime &regime, Value batch, Value head, Value block, Value part,
             const AttentionState &state);
  /// All parts of a query, one a row, at least as many as there are: a power of two.
  AttentionState load(const AttentionRegime &regime, Value batch, Value head, Value query);

private:
  /// Rows of memory `stride` elements apart, from element `offset` of the workspace on.
  Value view(Value offset, llvm::ArrayRef<int64_t> shape, ValueRange sizes, int64_t stride);
  Value firstRow(const Space &space, Value batch, Value head);
  /// Where the largest scores (0) or the sums (1) begin.
  Value columnStart(int number);

  KernelBuilder &b_;
  const AttentionShape &shape_;
  int64_t split_, depth_;
  DType compute_;
};

/// Stores what all keys of a tile of queries give: the results and, where they are wanted, the logarithms of the sums.
/// `space`: of queries, grouped or not; `row`: the tile's coordinate along the queries.
void storeAttention(KernelBuilder &b, const AttentionShape &shape, const Space &space, llvm::ArrayRef<Value> position,
                    Value row, const AttentionState &state);

/// Builds the kernel that merges the parts: `options` are those of the kernel that left them, one phase later.
void buildAttentionMerge(KernelBuilder &b, const AttentionShape &shape, const AttentionRegime &regime,
                         llvm::StringRef name, const KernelOptions &options);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_ATTENTIONMERGE_H
