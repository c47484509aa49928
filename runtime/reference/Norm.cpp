// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// layernorm and rmsnorm. The error follows two passes: the mean, then the squares of what is left of each element.

#include "Arithmetic.h"
#include "Families.h"
#include "Parallel.h"

namespace tilejit::reference {
namespace {

struct Statistics {
  Bounded mean, rstd;
  double meanError = 0; ///< Bound on the mean that was subtracted.
};

Statistics statisticsOf(std::span<const double> x, bool isCentred, double epsilon, const Arithmetic &arithmetic) {
  Statistics s;
  auto length = static_cast<double>(x.size());
  double u = arithmetic.unit, factor = arithmetic.format == DType::F64 ? 2 : 1, sums = factor * growth(length);
  if (isCentred) {
    double sum = 0, size = 0;
    for (double value : x) {
      sum += value;
      size += std::fabs(value);
    }
    s.mean = arithmetic.div(arithmetic.sum(sum, size, length), {length, 0});
    s.meanError = s.mean.error;
  }
  double squares = 0, carried = 0, steepest = 0;
  for (double value : x) {
    double left = value - s.mean.value;
    squares += left * left;
    // Twice |left| times the error of `left`, and the square of that error.
    double leftError = s.meanError + (isCentred ? u * std::fabs(left) : 0);
    carried += (2 * std::fabs(left) + leftError) * leftError;
    steepest = std::max(steepest, left * left);
  }
  double variance = squares / length, argument = variance + epsilon;
  s.rstd.value = 1 / std::sqrt(argument);
  // Squares that overflow are left open, but not those of true infinities and NaN.
  if (std::isfinite(squares) && (squares >= arithmetic.largest || steepest >= arithmetic.largest)) {
    s.rstd.error = infinity;
    return s;
  }
  if (!std::isfinite(s.rstd.value) || !std::isfinite(squares))
    return s;
  double argumentError = carried / length + (sums + 3) * u * variance + 8 * u * variance + 2 * u * argument;
  double low = argument - argumentError;
  double spread = low > 0 ? 1 / std::sqrt(low) - s.rstd.value : infinity;
  s.rstd = arithmetic.withinUlps(s.rstd.value, spread, 4);
  return s;
}

/// Where results go and what they are scaled by.
struct NormOutputs {
  RowWriter y;
  std::optional<RowWriter> mean, rstd;
  std::vector<double> weight, bias;
};

std::vector<double> loadOptional(const Call &call, std::string_view name) {
  std::vector<double> values;
  if (int index = call.description.inputIndex(name); index >= 0) {
    const HostTensor &tensor = call.inputs[static_cast<size_t>(index)];
    values.resize(static_cast<size_t>(tensor.elements()));
    loadDoubles(tensor.data(), tensor.dtype(), values);
  }
  return values;
}

std::optional<RowWriter> statisticWriter(Call &call, std::string_view name, int64_t rows) {
  int index = call.description.outputIndex(name);
  if (index < 0)
    return std::nullopt;
  return std::make_optional<RowWriter>(call.outputs[static_cast<size_t>(index)], call, rows, 1, 1, rows);
}

void normRow(NormOutputs &out, int64_t position, std::span<const double> x, const Statistics &s, bool isCentred,
             const Arithmetic &arithmetic) {
  for (size_t i = 0; i < x.size(); ++i) {
    Bounded left = isCentred ? arithmetic.sub({x[i], 0}, {s.mean.value, s.meanError}) : Bounded{x[i], 0};
    Bounded y = arithmetic.mul(left, s.rstd);
    if (!out.weight.empty())
      y = arithmetic.mul(y, {out.weight[i], 0});
    if (!out.bias.empty())
      y = arithmetic.add(y, {out.bias[i], 0});
    out.y.put(position, static_cast<int64_t>(i), y);
  }
  if (out.mean)
    out.mean->put(position, 0, s.mean);
  if (out.rstd)
    out.rstd->put(position, 0, s.rstd);
}

} // namespace

void evaluateNorm(Call &call) {
  const HostTensor &x = call.inputs[0];
  const auto &attributes = call.description.as<NormAttributes>();
  auto axis = static_cast<size_t>(attributes.axis);
  bool isCentred = call.description.family == Family::LayerNorm;
  int64_t rows = product(x.shape(), 0, axis), length = product(x.shape(), axis, x.shape().size());
  DType format = DType::F32;
  for (const HostTensor &input : call.inputs)
    format = input.dtype() == DType::F64 ? DType::F64 : format;
  Arithmetic arithmetic(format);
  NormOutputs out{RowWriter(call.outputs[0], call, rows, length, 1, rows), statisticWriter(call, "mean", rows),
                  statisticWriter(call, "rstd", rows), loadOptional(call, "weight"), loadOptional(call, "bias")};
  parallelFor(out.y.rows(), rowGrain(length), [&](int64_t begin, int64_t end) {
    std::vector<double> values(static_cast<size_t>(length));
    for (int64_t position = begin; position < end; ++position) {
      loadDoubles(x.element(out.y.row(position) * length), x.dtype(), values);
      Statistics s = statisticsOf(values, isCentred, attributes.epsilon, arithmetic);
      normRow(out, position, values, s, isCentred, arithmetic);
    }
  });
}

} // namespace tilejit::reference
