// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Transpose and cast: values that change place or type and nothing else. Every bit is determined.

#include "Families.h"
#include "Parallel.h"
#include "tilejit/Base/Float.h"

#include <cmath>

namespace tilejit::reference {
namespace {

/// Writes the elements of one row, `stride` apart in `x`, as they are or as a cast changes them.
void moveRow(RowWriter &writer, int64_t position, const HostTensor &x, int64_t offset, int64_t stride, int64_t length,
             DType to, bool saturate) {
  bool isFloating = isFloat(x.dtype());
  for (int64_t column = 0; column < length; ++column) {
    const std::byte *element = x.element(offset + column * stride);
    if (!isFloating && !(saturate && isFloat(to)))
      writer.put(position, column, loadAsInteger(element, x.dtype()));
    else if (double value =
                 isFloating ? loadAsDouble(element, x.dtype()) : integerToFloat(loadAsInteger(element, x.dtype()), to);
             saturate && isFloat(to))
      writer.put(position, column, Bounded{roundToFloat(value, to, true), 0});
    else
      writer.put(position, column, Bounded{value, 0});
  }
}

/// A row for each row of the output, read with the given strides.
void move(Call &call, const Shape &strides, bool saturate) {
  Shape shape = call.outputShape(0);
  int64_t length = lastDimension(shape), period = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  RowWriter writer(call.outputs[0], call, rowsOf(shape), length, 1, period);
  int64_t columnStride = strides.empty() ? 1 : strides.back();
  DType to = call.outputs[0].dtype;
  parallelFor(writer.rows(), rowGrain(length), [&](int64_t begin, int64_t end) {
    for (int64_t position = begin; position < end; ++position)
      if (length > 0)
        moveRow(writer, position, call.inputs[0], offsetOf(writer.row(position) * length, shape, strides), columnStride,
                length, to, saturate);
  });
}

} // namespace

void evaluateTranspose(Call &call) {
  const auto &permutation = call.description.as<TransposeAttributes>().permutation;
  Shape strides;
  for (int dimension : permutation)
    strides.push_back(call.inputs[0].strides()[static_cast<size_t>(dimension)]);
  move(call, strides, false);
}

void evaluateCast(Call &call) { move(call, call.inputs[0].strides(), call.description.as<CastAttributes>().saturate); }

} // namespace tilejit::reference
