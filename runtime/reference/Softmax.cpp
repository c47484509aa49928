// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// softmax and log_softmax over one axis. The error follows the usual way to compute it: x - max, exp, sum, quotient;
// doubled where a single pass rescales its sum.

#include "Arithmetic.h"
#include "Families.h"
#include "Parallel.h"

#include <algorithm>

namespace tilejit::reference {
namespace {

/// The error of an exponential in units: 4 ulp are at most 8.
double expUnits(const Arithmetic &arithmetic) { return arithmetic.isFast ? fastError / arithmetic.unit : 8; }

/// Whether a row has no meaning: NaN, +inf, or nothing but -inf in it.
bool isUndefined(std::span<const double> x) {
  double largest = -infinity;
  for (double value : x) {
    if (std::isnan(value))
      return true;
    largest = std::max(largest, value);
  }
  return std::isinf(largest);
}

void softmaxRow(std::span<const double> x, bool isLog, const Arithmetic &arithmetic, std::span<Bounded> out) {
  if (isUndefined(x)) {
    std::fill(out.begin(), out.end(), Bounded{std::numeric_limits<double>::quiet_NaN(), 0});
    return;
  }
  double largest = *std::max_element(x.begin(), x.end()), total = 0, weighted = 0;
  for (double value : x) {
    double term = std::exp(value - largest);
    total += term;
    if (term > 0)
      weighted += term * (largest - value);
  }
  double expRoundings = expUnits(arithmetic);
  // Relative error of the total, in units: each term's argument was rounded, then exp, then the sum.
  double totalUnits = 2 * (weighted / total + growth(static_cast<double>(x.size()))) + expRoundings;
  double logTotal = std::log(total);
  for (size_t i = 0; i < x.size(); ++i) {
    double distance = x[i] - largest;
    if (x[i] == -infinity) {
      out[i] = {isLog ? -infinity : 0, 0};
    } else if (isLog) {
      double carried = arithmetic.unit * (totalUnits + 2 * std::fabs(distance) + 8 * std::fabs(logTotal));
      out[i] = arithmetic.rounded(distance - logTotal, carried);
    } else {
      double share = std::exp(distance) / total;
      double units = totalUnits + expRoundings + 8 + 2 * std::fabs(distance);
      out[i] = arithmetic.settle(share, 0, units * arithmetic.unit * share + arithmetic.smallestNormal);
    }
  }
}

} // namespace

void evaluateSoftmax(Call &call) {
  const HostTensor &x = call.inputs[0];
  const auto &attributes = call.description.as<SoftmaxAttributes>();
  auto axis = static_cast<size_t>(attributes.axis);
  bool isLog = call.description.family == Family::LogSoftmax;
  int64_t length = x.shape()[axis], stride = product(x.shape(), axis + 1, x.shape().size());
  int64_t rows = product(x.shape(), 0, axis) * stride;
  Arithmetic arithmetic(x.dtype() == DType::F64 ? DType::F64 : DType::F32, attributes.accuracy);
  RowWriter writer(call.outputs[0], call, rows, length, stride, rows);
  parallelFor(writer.rows(), rowGrain(length), [&](int64_t begin, int64_t end) {
    std::vector<double> values(static_cast<size_t>(length));
    std::vector<Bounded> results(values.size());
    for (int64_t position = begin; position < end; ++position) {
      int64_t row = writer.row(position), first = row / stride * length * stride + row % stride;
      for (int64_t i = 0; i < length; ++i)
        values[static_cast<size_t>(i)] = loadAsDouble(x.element(first + i * stride), x.dtype());
      softmaxRow(values, isLog, arithmetic, results);
      for (int64_t i = 0; i < length; ++i)
        writer.put(position, i, results[static_cast<size_t>(i)]);
    }
  });
}

} // namespace tilejit::reference
