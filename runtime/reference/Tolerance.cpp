// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Acceptance of results, and the rule in words.

#include "tilejit/Reference/Tolerance.h"

#include "Shapes.h"
#include "tilejit/Base/Float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilejit {
namespace {

/// Steps of the rule that any of the description's parts uses.
std::string functionsRule(const Description &description) {
  bool hasFunction = false;
  for (const EpilogueStep &step : description.epilogue)
    hasFunction |= step.kind >= EpilogueStep::Kind::Silu;
  return hasFunction ? "; functions 6 ulp" : "";
}

} // namespace

double growth(double terms) { return std::min(terms, 6 * std::sqrt(terms)) + 1; }

double operandRounding(Precision precision) {
  switch (precision) {
  case Precision::Tf32:
    return 2 * 0x1p-11 + 0x1p-22;
  case Precision::Bf16x3:
    return 3 * 0x1p-16;
  case Precision::Ieee:
    return 0;
  }
  return 0;
}

bool isAccepted(double got, Bounded wanted, DType dtype) {
  if (std::isinf(wanted.error))
    return true;
  if (!std::isfinite(wanted.value)) {
    double exact = roundToFloat(wanted.value, dtype);
    return std::isnan(exact) ? std::isnan(got) : got == exact;
  }
  double low = roundToFloat(wanted.value - wanted.error, dtype),
         high = roundToFloat(wanted.value + wanted.error, dtype);
  if (!std::isnan(low) && !std::isnan(high))
    return got >= low && got <= high;
  // A format without infinity: what lies beyond its range is NaN.
  if (std::isnan(got))
    return true;
  return (std::isnan(low) || got >= low) && (std::isnan(high) || got <= high) && (got >= low || got <= high);
}

bool isAccepted(int64_t got, int64_t wanted, double error) {
  if (error == 0)
    return got == wanted;
  return std::fabs(static_cast<double>(got) - static_cast<double>(wanted)) <= error;
}

double allowance(Bounded wanted, DType dtype) {
  if (!std::isfinite(wanted.value) || !isFloat(dtype))
    return wanted.error;
  double low = roundToFloat(wanted.value - wanted.error, dtype),
         high = roundToFloat(wanted.value + wanted.error, dtype);
  if (!std::isfinite(low) || !std::isfinite(high))
    return std::numeric_limits<double>::infinity();
  return std::max(std::fabs(high - wanted.value), std::fabs(wanted.value - low));
}

std::string toleranceRule(const Description &description) {
  auto floatUnit = [](DType dtype) { return dtype == DType::F64 ? std::string("2^-53") : std::string("2^-24"); };
  DType first = description.inputs.empty() ? DType::F32 : description.inputs[0].dtype;
  std::string unit = floatUnit(first),
              last = ", then rounding to " + std::string(dtypeName(description.outputs[0].dtype));
  switch (description.family) {
  case Family::Matmul: {
    const auto &attributes = description.as<MatmulAttributes>();
    if (!isFloat(attributes.accumulate))
      return "exact in integers, wrapping" + functionsRule(description) + last;
    std::string rounding = attributes.precision == Precision::Tf32     ? " + 2^-10 for tf32"
                           : attributes.precision == Precision::Bf16x3 ? " + 3*2^-16 for bf16x3"
                                                                       : "";
    return std::string(attributes.accumulate == DType::F64 ? "2" : "1") + " * (min(k, 6*sqrt(k)) + 1) * " +
           floatUnit(attributes.accumulate) + rounding + " times sum |a*b|" + functionsRule(description) + last;
  }
  case Family::Reduce: {
    ReduceKind kind = description.as<ReduceAttributes>().kind;
    if (kind == ReduceKind::Prod && isFloat(first))
      return "n * " + unit + " times |product|, the worst case of n roundings" + last;
    if (kind == ReduceKind::Mean || (kind == ReduceKind::Sum && isFloat(first)))
      return "(min(n, 6*sqrt(n)) + 1) * " + unit + " times sum |x|" + last;
    return "exact";
  }
  case Family::Softmax:
  case Family::LogSoftmax:
    return "running error of exp (4 ulp), sum of n terms and quotient in units of " + unit + last;
  case Family::LayerNorm:
  case Family::RmsNorm:
    return "running error of two sums of n terms, rsqrt (4 ulp) and products in units of " + unit + last;
  case Family::Attention:
  case Family::AttentionDecode: {
    bool isNarrow = first == DType::F16 || first == DType::BF16;
    return "running error of d-term scores, exp (4 ulp), rescaled sums of skv terms and quotient in units of " + unit +
           (isNarrow ? "; exponentials rounded to " + std::string(dtypeName(first)) : "") +
           (description.epilogue.empty() ? "" : "; epilogue step by step") + functionsRule(description) + last;
  }
  case Family::Elementwise:
    return "running error of the expression: 1 rounding each for + - *, 4 ulp for /, exp, log and roots, 6 ulp for "
           "other functions" +
           last;
  case Family::Transpose:
    return "exact: every bit";
  case Family::Cast:
    return "exact: one conversion to " + std::string(dtypeName(description.outputs[0].dtype));
  }
  return "exact";
}

} // namespace tilejit
