// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reductions over any set of axes. Elements are visited in row-major order of the reduced axes, which is the order that
// argmax and argmin count in.

#include "Arithmetic.h"
#include "Families.h"
#include "Parallel.h"

namespace tilejit::reference {
namespace {

/// The elements that one result is made of.
struct Reduction {
  const HostTensor &x;
  Shape kept, keptStrides;       ///< Dimensions that stay, and their strides in x.
  Shape reduced, reducedStrides; ///< Dimensions that go.
  int64_t length = 1;

  explicit Reduction(const Call &call) : x(call.inputs[0]) {
    std::vector<bool> goes(x.shape().size());
    for (int axis : call.description.as<ReduceAttributes>().axes)
      goes[static_cast<size_t>(axis)] = true;
    for (size_t i = 0; i < goes.size(); ++i) {
      (goes[i] ? reduced : kept).push_back(x.shape()[i]);
      (goes[i] ? reducedStrides : keptStrides).push_back(x.strides()[i]);
    }
    length = elementCount(reduced);
  }

  /// Calls visit(element) for each element of a result, in order.
  template <typename Visit> void each(int64_t result, Visit visit) const {
    if (length == 0)
      return;
    int64_t base = offsetOf(result, kept, keptStrides);
    int64_t inner = reduced.empty() ? 1 : reduced.back(), innerStride = reduced.empty() ? 0 : reducedStrides.back();
    for (int64_t start = 0; start < length; start += inner) {
      int64_t offset = base + offsetOf(start, reduced, reducedStrides);
      for (int64_t i = 0; i < inner; ++i)
        visit(x.element(offset + i * innerStride));
    }
  }
};

Bounded floatSum(const Reduction &r, int64_t result, const Arithmetic &arithmetic, bool isMean) {
  double sum = 0, size = 0;
  DType dtype = r.x.dtype();
  r.each(result, [&](const std::byte *element) {
    double value = loadAsDouble(element, dtype);
    sum += value;
    size += std::fabs(value);
  });
  auto length = static_cast<double>(r.length);
  Bounded total = arithmetic.sum(sum, size, length);
  return isMean ? arithmetic.div(total, {length, 0}) : total;
}

Bounded floatProduct(const Reduction &r, int64_t result, const Arithmetic &arithmetic) {
  double value = 1, growing = 1, shrinking = 1;
  bool allFinite = true;
  DType dtype = r.x.dtype();
  r.each(result, [&](const std::byte *element) {
    double factor = loadAsDouble(element, dtype);
    value *= factor;
    allFinite &= std::isfinite(factor);
    growing *= std::max(std::fabs(factor), 1.0);
    shrinking *= std::min(std::fabs(factor), 1.0);
  });
  if (!allFinite)
    return {value, 0};
  auto length = static_cast<double>(r.length);
  // Some order of multiplication may overflow, or lose digits to subnormals that later factors make large.
  if (growing >= arithmetic.largest && std::fabs(value) <= arithmetic.largest)
    return {value, infinity};
  double lost = shrinking < arithmetic.smallestNormal ? length * arithmetic.tiny * growing : arithmetic.tiny;
  double factor = arithmetic.format == DType::F64 ? 2 : 1;
  // Equal factors have equal rounding errors, which add up: no better bound than the worst case holds for all.
  return arithmetic.settle(value, 0, std::expm1(factor * length * arithmetic.unit) * std::fabs(value) + lost);
}

Bounded floatExtreme(const Reduction &r, int64_t result, bool isMax) {
  double extreme = isMax ? -infinity : infinity;
  DType dtype = r.x.dtype();
  r.each(result, [&](const std::byte *element) {
    double value = loadAsDouble(element, dtype);
    if (std::isnan(value) || (isMax ? value > extreme : value < extreme))
      extreme = std::isnan(extreme) ? extreme : value;
  });
  return {extreme, 0};
}

int64_t extremePlace(const Reduction &r, int64_t result, bool isMax) {
  int64_t place = 0, best = 0, bestInteger = 0;
  double bestValue = 0;
  DType dtype = r.x.dtype();
  bool isFloating = isFloat(dtype);
  r.each(result, [&](const std::byte *element) {
    bool wins;
    if (isFloating) {
      double value = loadAsDouble(element, dtype);
      wins = place == 0 ||
             (!std::isnan(bestValue) && (std::isnan(value) || (isMax ? value > bestValue : value < bestValue)));
      bestValue = wins ? value : bestValue;
    } else {
      int64_t value = loadAsInteger(element, dtype);
      wins = place == 0 || (isMax ? value > bestInteger : value < bestInteger);
      bestInteger = wins ? value : bestInteger;
    }
    best = wins ? place : best;
    ++place;
  });
  return best;
}

int64_t integerResult(const Reduction &r, int64_t result, ReduceKind kind, DType accumulator) {
  bool isMax = kind == ReduceKind::Max;
  uint64_t value = kind == ReduceKind::Prod ? 1 : 0;
  int64_t extreme = isMax ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  DType dtype = r.x.dtype();
  r.each(result, [&](const std::byte *element) {
    int64_t x = loadAsInteger(element, dtype);
    if (kind == ReduceKind::Sum)
      value += static_cast<uint64_t>(x);
    else if (kind == ReduceKind::Prod)
      value *= static_cast<uint64_t>(x);
    else
      extreme = isMax ? std::max(extreme, x) : std::min(extreme, x);
  });
  if (kind == ReduceKind::Max || kind == ReduceKind::Min)
    return extreme;
  return wrapInteger(static_cast<int64_t>(value), accumulator);
}

/// Mean of integers: the sum may be taken in f32, or exactly and converted; then one division.
Bounded integerMean(const Reduction &r, int64_t result, const Arithmetic &arithmetic) {
  double sum = 0, size = 0;
  DType dtype = r.x.dtype();
  r.each(result, [&](const std::byte *element) {
    auto value = static_cast<double>(loadAsInteger(element, dtype));
    sum += value;
    size += std::fabs(value);
  });
  auto length = static_cast<double>(r.length);
  return arithmetic.div(arithmetic.sum(sum, size, length), {length, 0});
}

void reduceRow(RowWriter &writer, int64_t position, const Reduction &r, ReduceKind kind, const Arithmetic &arithmetic,
               DType accumulator) {
  int64_t result = writer.row(position);
  bool isFloating = isFloat(r.x.dtype());
  if (kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin)
    writer.put(position, 0, extremePlace(r, result, kind == ReduceKind::ArgMax));
  else if (!isFloating && kind == ReduceKind::Mean)
    writer.put(position, 0, integerMean(r, result, arithmetic));
  else if (!isFloating)
    writer.put(position, 0, integerResult(r, result, kind, accumulator));
  else if (kind == ReduceKind::Prod)
    writer.put(position, 0, floatProduct(r, result, arithmetic));
  else if (kind == ReduceKind::Max || kind == ReduceKind::Min)
    writer.put(position, 0, floatExtreme(r, result, kind == ReduceKind::Max));
  else
    writer.put(position, 0, floatSum(r, result, arithmetic, kind == ReduceKind::Mean));
}

} // namespace

void evaluateReduce(Call &call) {
  Reduction reduction(call);
  ReduceKind kind = call.description.as<ReduceAttributes>().kind;
  DType input = call.inputs[0].dtype(), output = call.outputs[0].dtype;
  bool isDouble = input == DType::F64 || (!isFloat(input) && output == DType::F64);
  Arithmetic arithmetic(isDouble ? DType::F64 : DType::F32);
  DType accumulator = input == DType::I64 || output == DType::I64 ? DType::I64 : DType::I32;
  Shape shape = call.outputShape(0);
  RowWriter writer(call.outputs[0], call, elementCount(shape), 1, 1, lastDimension(shape));
  parallelFor(writer.rows(), rowGrain(reduction.length), [&](int64_t begin, int64_t end) {
    for (int64_t position = begin; position < end; ++position)
      reduceRow(writer, position, reduction, kind, arithmetic, accumulator);
  });
}

} // namespace tilejit::reference
