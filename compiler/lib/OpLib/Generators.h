// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The generators of the families, one for each .cpp of that name. Each builds all kernels of its operator.

#ifndef TILEJIT_LIB_OPLIB_GENERATORS_H
#define TILEJIT_LIB_OPLIB_GENERATORS_H

#include "KernelBuilder.h"
#include "Schedule.h"

namespace tilejit::oplib {

void buildMatmul(KernelBuilder &b, const Schedule &schedule);
void buildElementwise(KernelBuilder &b, const Schedule &schedule);
void buildCast(KernelBuilder &b, const Schedule &schedule);
void buildTranspose(KernelBuilder &b, const Schedule &schedule);
void buildReduce(KernelBuilder &b, const Schedule &schedule);
void buildSoftmax(KernelBuilder &b, const Schedule &schedule);
void buildNorm(KernelBuilder &b, const Schedule &schedule);

// The spaces that tile sizes are chosen from, collapsed.

/// All operands along the dimensions of the first output.
Space elementwiseSpace(const Description &description);
/// The dimensions of x, with tag 1 where they are reduced; slots: x, y.
Space reduceSpace(const Description &description);
/// The type that elements of a reduction are combined in.
DType reduceComputeType(ReduceKind kind, DType input, DType output);
/// The dimensions of x, with tag 1 for the axis; slots: x, y.
Space softmaxSpace(const Description &description);
/// The dimensions of x, with tag 1 where they are normalised; slots: inputs, then outputs.
Space normSpace(const Description &description);
/// Rows (m), columns (n) and terms (k) of a product, m and n exchanged where that makes the long one the columns.
struct MatmulShape {
  Space space;              ///< Batch dimensions, then m, n, k. Slots: inputs, then c.
  int rows, columns, depth; ///< Dimensions of the space.
  int left, right;          ///< Slots.

  int batchRank() const { return space.rank() - 3; }
  const Size &size(int dim) const { return space.dims[dim].size; }
  /// Whether the right operand lies row by row.
  bool columnsAreContiguous() const;
};
MatmulShape matmulShape(const Description &description);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_GENERATORS_H
