// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Functions of one value: their values in double precision, their promised accuracy, and how they carry errors.

#include "Arithmetic.h"

#include <algorithm>
#include <numbers>

namespace tilejit::reference {
namespace {

double sigmoid(double x) {
  double small = std::exp(-std::fabs(x));
  return (x >= 0 ? 1 : small) / (1 + small);
}

/// x * share for an activation whose share goes to 0 faster than x goes to minus infinity.
double activation(double x, double share) { return x == -infinity ? 0 : x * share; }

double gelu(double x) { return activation(x, 0.5 * std::erfc(-x * (std::numbers::sqrt2 / 2))); }

double geluTanh(double x) {
  // (1 + tanh(y)) / 2 is sigmoid(2 y), which does not cancel.
  double y = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return activation(x, sigmoid(2 * y));
}

double sign(double x) { return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0)); }

/// How accurate a function is promised to be.
enum class Accuracy { Exact, FourUlp, SixUlp };

Accuracy accuracyOf(ExprOp function) {
  switch (function) {
  case ExprOp::Neg:
  case ExprOp::Abs:
  case ExprOp::Relu:
  case ExprOp::Floor:
  case ExprOp::Ceil:
  case ExprOp::Round:
  case ExprOp::Trunc:
  case ExprOp::Sign:
    return Accuracy::Exact;
  case ExprOp::Exp:
  case ExprOp::Exp2:
  case ExprOp::Log:
  case ExprOp::Log2:
  case ExprOp::Sqrt:
  case ExprOp::Rsqrt:
    return Accuracy::FourUlp;
  default:
    return Accuracy::SixUlp;
  }
}

/// Whether a function has a fast form.
bool isFastFunction(ExprOp function) {
  switch (function) {
  case ExprOp::Exp:
  case ExprOp::Exp2:
  case ExprOp::Log:
  case ExprOp::Log2:
  case ExprOp::Log1p:
  case ExprOp::Rsqrt:
  case ExprOp::Sin:
  case ExprOp::Cos:
  case ExprOp::Tanh:
  case ExprOp::Erf:
  case ExprOp::Sigmoid:
  case ExprOp::Silu:
  case ExprOp::Gelu:
  case ExprOp::GeluTanh:
  case ExprOp::Softplus:
    return true;
  default:
    return false;
  }
}

/// A bound on the slope, for functions that are not monotonic; 0 for those that are.
double slopeBound(ExprOp function) {
  switch (function) {
  case ExprOp::Neg:
  case ExprOp::Abs:
  case ExprOp::Sin:
  case ExprOp::Cos:
    return 1;
  case ExprOp::Gelu:
  case ExprOp::GeluTanh:
    return 1.13;
  case ExprOp::Silu:
    return 1.1;
  default:
    return 0;
  }
}

/// The absolute error that is promised where a result comes near a zero, for f32.
double floorOf(ExprOp function, double x) {
  constexpr double nearZeros = 1e-7;
  switch (function) {
  case ExprOp::Cos:
    return nearZeros;
  case ExprOp::Sin:
  case ExprOp::Tan:
    return std::fabs(x) > 1 ? nearZeros : 0;
  case ExprOp::Gelu:
  case ExprOp::GeluTanh:
    return x < 0 ? nearZeros : 0;
  default:
    return 0;
  }
}

double carriedError(ExprOp function, Bounded x, double value) {
  if (x.error == 0)
    return 0;
  if (double slope = slopeBound(function))
    return slope * x.error;
  double low = evaluateFunction(function, x.value - x.error), high = evaluateFunction(function, x.value + x.error);
  // A pole of tan within reach shows as a falling stretch, or as more than one period.
  if (function == ExprOp::Tan && (!(low <= value && value <= high) || x.error > 1))
    return infinity;
  double error = std::max(low == value ? 0 : std::fabs(low - value), high == value ? 0 : std::fabs(high - value));
  return std::isfinite(error) ? error : infinity;
}

} // namespace

double evaluateFunction(ExprOp function, double x) {
  switch (function) {
  case ExprOp::Neg:
    return -x;
  case ExprOp::Abs:
    return std::fabs(x);
  case ExprOp::Exp:
    return std::exp(x);
  case ExprOp::Exp2:
    return std::exp2(x);
  case ExprOp::Log:
    return std::log(x);
  case ExprOp::Log2:
    return std::log2(x);
  case ExprOp::Log1p:
    return std::log1p(x);
  case ExprOp::Expm1:
    return std::expm1(x);
  case ExprOp::Sqrt:
    return std::sqrt(x);
  case ExprOp::Rsqrt:
    return 1 / std::sqrt(x);
  case ExprOp::Sin:
    return std::sin(x);
  case ExprOp::Cos:
    return std::cos(x);
  case ExprOp::Tan:
    return std::tan(x);
  case ExprOp::Tanh:
    return std::tanh(x);
  case ExprOp::Sigmoid:
    return sigmoid(x);
  case ExprOp::Erf:
    return std::erf(x);
  case ExprOp::Relu:
    return std::isnan(x) ? x : std::max(x, 0.0);
  case ExprOp::Gelu:
    return gelu(x);
  case ExprOp::GeluTanh:
    return geluTanh(x);
  case ExprOp::Silu:
    return activation(x, sigmoid(x));
  case ExprOp::Softplus:
    return std::isnan(x) ? x : std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  case ExprOp::Floor:
    return std::floor(x);
  case ExprOp::Ceil:
    return std::ceil(x);
  case ExprOp::Round:
    return std::nearbyint(x);
  case ExprOp::Trunc:
    return std::trunc(x);
  case ExprOp::Sign:
    return sign(x);
  default:
    return x;
  }
}

Bounded Arithmetic::apply(ExprOp function, Bounded x) const {
  double value = evaluateFunction(function, x.value);
  if (std::isinf(x.error))
    return {value, infinity};
  double carried = carriedError(function, x, value);
  Accuracy accuracy = accuracyOf(function);
  if (accuracy == Accuracy::Exact)
    return {value, carried};
  double floor = floorOf(function, x.value) * (unit / 0x1p-24);
  if (isFast && isFastFunction(function))
    floor = std::max(floor, fastErrorOf(value));
  return withinUlps(value, carried, accuracy == Accuracy::FourUlp ? 4 : 6, floor);
}

} // namespace tilejit::reference
