// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which rows are computed, and where their results go.

#include "Arithmetic.h"
#include "Families.h"
#include "tilejit/Reference/Random.h"

#include <algorithm>
#include <set>

namespace tilejit {
namespace {

/// Rows on both sides of the borders of tiles, the near and the last ones, within a matrix of `period` rows.
std::vector<int64_t> borderRows(int64_t period) {
  std::vector<int64_t> rows;
  for (int64_t tile : {64, 128, 8, 256, 16, 32}) {
    int64_t last = (period - 1) / tile * tile;
    for (int64_t row : {tile - 1, tile, last - 1, last})
      if (row > 0 && row < period)
        rows.push_back(row);
  }
  return rows;
}

} // namespace

std::vector<int64_t> selectRows(int64_t count, int64_t period, const RowSelection &selection) {
  std::set<int64_t> rows;
  auto limit = static_cast<size_t>(std::clamp<int64_t>(selection.limit, std::min<int64_t>(count, 2), count));
  auto add = [&](int64_t row) {
    if (rows.size() < limit && row >= 0 && row < count)
      rows.insert(row);
  };
  add(0);
  add(count - 1);
  // Borders get at most two thirds, so that there are always random rows.
  size_t forBorders = limit - limit / 3;
  for (int64_t row : borderRows(std::min(period, count)))
    for (int64_t matrix : {int64_t{0}, count - period})
      if (rows.size() < forBorders)
        add(matrix + row);
  constexpr uint32_t purpose = 0x726f7773; // Keeps these numbers apart from those of the inputs.
  for (uint32_t block = 0; rows.size() < limit; ++block)
    for (uint32_t word : philox({block, 0, purpose, 0},
                                {static_cast<uint32_t>(selection.seed), static_cast<uint32_t>(selection.seed >> 32)})) {
      // Collisions go on to the next free row, so that a nearly complete selection ends.
      auto row = static_cast<int64_t>(static_cast<double>(word) * 0x1p-32 * static_cast<double>(count));
      while (rows.size() < limit && rows.contains(row))
        row = (row + 1) % count;
      add(row);
    }
  return {rows.begin(), rows.end()};
}

namespace reference {

RowWriter::RowWriter(ReferenceTensor &tensor, const Call &call, int64_t allRows, int64_t rowLength, int64_t stride,
                     int64_t period)
    : tensor_(tensor), rowLength_(rowLength), stride_(std::max<int64_t>(stride, 1)) {
  if (call.selection && allRows > call.selection->limit)
    selected_ = selectRows(allRows, period, *call.selection);
  tensor.allRows = allRows;
  tensor.rows = selected_.empty() ? allRows : static_cast<int64_t>(selected_.size());
  auto size = static_cast<size_t>(tensor.rows * rowLength);
  tensor.errors.resize(size);
  if (isFloat(tensor.dtype))
    tensor.values.resize(size);
  else
    tensor.integers.resize(size);
  if (selected_.empty())
    return;
  tensor.places.resize(size);
  for (int64_t position = 0; position < tensor.rows; ++position)
    for (int64_t column = 0; column < rowLength; ++column)
      tensor.places[static_cast<size_t>(position * rowLength + column)] = place(row(position), column);
}

int64_t RowWriter::place(int64_t row, int64_t column) const {
  return row / stride_ * rowLength_ * stride_ + row % stride_ + column * stride_;
}

int64_t RowWriter::index(int64_t position, int64_t column) const {
  return selected_.empty() ? place(position, column) : position * rowLength_ + column;
}

void RowWriter::put(int64_t position, int64_t column, Bounded value) {
  auto i = static_cast<size_t>(index(position, column));
  if (isFloat(tensor_.dtype)) {
    tensor_.values[i] = value.value;
    tensor_.errors[i] = value.error;
  } else {
    castToInteger(value, tensor_.dtype, tensor_.integers[i], tensor_.errors[i]);
  }
}

void RowWriter::put(int64_t position, int64_t column, int64_t value, double error) {
  auto i = static_cast<size_t>(index(position, column));
  if (isFloat(tensor_.dtype))
    tensor_.values[i] = integerToFloat(value, tensor_.dtype);
  else
    tensor_.integers[i] = wrapInteger(value, tensor_.dtype);
  tensor_.errors[i] = error;
}

void castToInteger(Bounded value, DType dtype, int64_t &integer, double &error) {
  integer = floatToInteger(value.value, dtype);
  error = 0;
  if (value.error == 0)
    return;
  if (std::isinf(value.error)) {
    error = infinity;
  } else if (dtype == DType::Bool) {
    error = std::fabs(value.value) <= value.error;
  } else {
    auto centre = static_cast<double>(integer);
    error = std::max(static_cast<double>(floatToInteger(value.value + value.error, dtype)) - centre,
                     centre - static_cast<double>(floatToInteger(value.value - value.error, dtype)));
  }
}

int64_t lastDimension(const Shape &shape) { return shape.empty() ? 1 : shape.back(); }

int64_t rowsOf(const Shape &shape) { return shape.empty() ? 1 : product(shape, 0, shape.size() - 1); }

int64_t rowGrain(int64_t elementsPerRow) {
  constexpr int64_t elements = 8192;
  return std::max<int64_t>(1, elements / std::max<int64_t>(elementsPerRow, 1));
}

} // namespace reference
} // namespace tilejit
