// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a description means, on host arrays, in double precision: plain loops, every output element with the error that
// the promised arithmetic may have (Tolerance.h). For checking kernels, and for computing where no kernel can run.
// Integers are exact and wrap as descriptions say. It is not fast, and it knows nothing of tiles or targets.

#ifndef TILEJIT_REFERENCE_REFERENCE_H
#define TILEJIT_REFERENCE_REFERENCE_H

#include "tilejit/Base/Status.h"
#include "tilejit/Description/Description.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/Reference/HostTensor.h"
#include "tilejit/Reference/Tolerance.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilejit {

/// An output, or some of its rows. A row is what the family computes together: the last dimension of a matrix product,
/// attention, elementwise result, transpose or cast; the elements of one softmax or norm; one element of a reduction.
struct ReferenceTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<double> values;    ///< Floating dtypes: before rounding to the dtype. Else empty.
  std::vector<int64_t> integers; ///< Integers and bool. Else empty.
  std::vector<double> errors;    ///< See Bounded; one for each value or integer.
  std::vector<int64_t> places;   ///< Row-major place of each; empty: all elements in order.
  int64_t rows = 0;              ///< Rows that were computed.
  int64_t allRows = 0;           ///< Rows of the whole output.

  int64_t size() const { return static_cast<int64_t>(errors.size()); }
  int64_t place(int64_t index) const { return places.empty() ? index : places[static_cast<size_t>(index)]; }
};

/// Which rows to compute where not all: at most `limit` of each output, but always the first and the last; then both
/// sides of the borders of tiles of 8 to 256 rows, in the first and the last matrix of a batch, and random ones.
struct RowSelection {
  int64_t limit = 0;
  uint64_t seed = 0;
};

/// The rows of a selection in ascending order; `period` is the number of rows of one matrix.
std::vector<int64_t> selectRows(int64_t count, int64_t period, const RowSelection &selection);

/// Floating-point operations of one row of the reference, about, and the number of rows.
struct ReferenceCost {
  double rowFlops = 0;
  int64_t rows = 0;
  double total() const { return rowFlops * static_cast<double>(rows); }
};
ReferenceCost referenceCost(const Description &description, const Binding &binding);

/// Computes the outputs for complete bindings. Inputs are dense, in the order of the description; one of another dtype
/// or shape is refused. Without `selection`, all rows.
Status evaluateReference(const Description &description, const Binding &binding, std::span<const HostTensor> inputs,
                         std::vector<ReferenceTensor> &outputs, const RowSelection *selection = nullptr);

/// Computes the outputs and rounds them to their dtypes: a slow but right kernel.
Status referenceRun(const Description &description, const Binding &binding, std::span<const HostTensor> inputs,
                    std::vector<HostTensor> &outputs);

} // namespace tilejit

#endif // TILEJIT_REFERENCE_REFERENCE_H
