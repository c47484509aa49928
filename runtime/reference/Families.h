// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the families share: the call they answer, and how they hand over results.

#ifndef TILEJIT_REFERENCE_FAMILIES_H
#define TILEJIT_REFERENCE_FAMILIES_H

#include "Shapes.h"
#include "tilejit/Reference/Reference.h"

#include <span>
#include <vector>

namespace tilejit::reference {

/// One evaluation: bound shapes and checked inputs.
struct Call {
  const Description &description;
  const Binding &binding;
  std::span<const HostTensor> inputs;
  const RowSelection *selection;
  std::vector<ReferenceTensor> &outputs;

  const HostTensor &input(std::string_view name) const {
    return inputs[static_cast<size_t>(description.inputIndex(name))];
  }
  Shape outputShape(size_t output) const { return boundShape(description.outputs[output], binding); }
};

/// Results of one output, row by row. Different rows may be written by different threads.
class RowWriter {
public:
  /// `rowLength` elements in each of `allRows` rows, `stride` places apart: row r begins at
  /// (r / stride) * rowLength * stride + r % stride.
  RowWriter(ReferenceTensor &tensor, const Call &call, int64_t allRows, int64_t rowLength, int64_t stride,
            int64_t period);

  /// Rows to compute, and which row each of them is.
  int64_t rows() const { return tensor_.rows; }
  int64_t row(int64_t position) const {
    return selected_.empty() ? position : selected_[static_cast<size_t>(position)];
  }

  /// An element from a floating computation in `from`; becomes an integer where the output is one.
  void put(int64_t position, int64_t column, Bounded value);
  /// An element from an integer computation, exact but for `error`.
  void put(int64_t position, int64_t column, int64_t value, double error = 0);

private:
  int64_t index(int64_t position, int64_t column) const;
  int64_t place(int64_t row, int64_t column) const;

  ReferenceTensor &tensor_;
  std::vector<int64_t> selected_;
  int64_t rowLength_, stride_;
};

void evaluateMatmul(Call &call);
void evaluateElementwise(Call &call);
void evaluateReduce(Call &call);
void evaluateSoftmax(Call &call);
void evaluateNorm(Call &call);
void evaluateTranspose(Call &call);
void evaluateCast(Call &call);
void evaluateAttention(Call &call);
/// Whether starts of sequences, lengths and pages of attention, dtypes and shapes apart, are some that there are.
Status checkTables(const Call &call);

/// The integer of a bounded floating value, and how far a right one may be from it.
void castToInteger(Bounded value, DType dtype, int64_t &integer, double &error);

/// Rows of an output by its last dimension.
int64_t lastDimension(const Shape &shape);
int64_t rowsOf(const Shape &shape);

/// A grain for loops over rows that makes parts large enough to be worth a turn.
int64_t rowGrain(int64_t elementsPerRow);

} // namespace tilejit::reference

#endif // TILEJIT_REFERENCE_FAMILIES_H
