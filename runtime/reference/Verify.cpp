// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Element by element comparison, in parts that are merged in order, so that the result does not depend on threads.

#include "tilejit/Reference/Verify.h"

#include "Parallel.h"
#include "tilejit/Base/Float.h"
#include "tilejit/Reference/Reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>

namespace tilejit {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What one part of an output's elements amounts to.
struct Findings {
  double maxAbs = 0, maxRel = 0;
  double worstExcess = -1; ///< Error as a share of the tolerance, about; plus 2 where it is wrong.
  int64_t worst = -1;      ///< Position in the ReferenceTensor.
  int64_t wrong = 0, misplacedNan = 0;

  void merge(const Findings &other) {
    maxAbs = std::max(maxAbs, other.maxAbs);
    maxRel = std::max(maxRel, other.maxRel);
    wrong += other.wrong;
    misplacedNan += other.misplacedNan;
    if (other.worstExcess > worstExcess) {
      worstExcess = other.worstExcess;
      worst = other.worst;
    }
  }
};

/// |actual - expected|, where two equal infinities or two NaN are no difference.
double difference(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected)))
    return 0;
  double distance = std::fabs(actual - expected);
  return std::isnan(distance) ? infinity : distance;
}

/// Facts of an output's type that every element needs.
struct FormatFacts {
  DType dtype;
  double unit, smallestNormal;

  explicit FormatFacts(DType dtype)
      : dtype(dtype), unit(isFloat(dtype) ? unitRoundoff(dtype) : 0),
        smallestNormal(isFloat(dtype) ? std::ldexp(1.0, floatFormat(dtype).minExponent) : 0) {}

  /// Half the distance of the type's numbers at a finite value.
  double halfUlp(double value) const {
    constexpr uint64_t exponentBits = 0x7ff0000000000000;
    return unit * std::max(std::bit_cast<double>(std::bit_cast<uint64_t>(value) & exponentBits), smallestNormal);
  }
};

/// isAccepted() for most elements at less cost: by monotonic rounding, what lies within the error or is the rounded
/// value itself is accepted.
bool isRightElement(double actual, Bounded wanted, DType dtype) {
  return std::fabs(actual - wanted.value) <= wanted.error || actual == roundToFloat(wanted.value, dtype) ||
         isAccepted(actual, wanted, dtype);
}

void judgeFloat(const ReferenceTensor &reference, int64_t i, double actual, const FormatFacts &facts,
                Findings &findings) {
  Bounded wanted{reference.values[static_cast<size_t>(i)], reference.errors[static_cast<size_t>(i)]};
  bool isRight = isRightElement(actual, wanted, facts.dtype);
  // No error: an overflow that has to be NaN or infinity in the output's type, and what no bound exists for.
  bool isNoError = isRight && (!std::isfinite(actual) || std::isinf(wanted.error));
  double error = isNoError ? 0 : difference(actual, wanted.value);
  findings.maxAbs = std::max(findings.maxAbs, error);
  if (std::fabs(wanted.value) >= facts.smallestNormal)
    findings.maxRel = std::max(findings.maxRel, std::isinf(wanted.value) ? error : error / std::fabs(wanted.value));
  double excess = 0;
  if (error > 0)
    excess = std::isfinite(wanted.value) ? error / (wanted.error + facts.halfUlp(wanted.value)) : infinity;
  if (!isRight) {
    ++findings.wrong;
    findings.misplacedNan += std::isnan(actual) != std::isnan(wanted.value);
    // Whatever is wrong comes before whatever is right.
    excess += 2;
  }
  if (excess > findings.worstExcess) {
    findings.worstExcess = excess;
    findings.worst = i;
  }
}

void judgeInteger(const ReferenceTensor &reference, int64_t i, int64_t actual, Findings &findings) {
  int64_t wanted = reference.integers[static_cast<size_t>(i)];
  double tolerance = reference.errors[static_cast<size_t>(i)];
  double error = std::fabs(static_cast<double>(actual) - static_cast<double>(wanted));
  if (error == 0 && actual != wanted)
    error = 1;
  findings.maxAbs = std::max(findings.maxAbs, error);
  if (wanted != 0)
    findings.maxRel = std::max(findings.maxRel, error / std::fabs(static_cast<double>(wanted)));
  bool isRight = isAccepted(actual, wanted, tolerance);
  findings.wrong += !isRight;
  double excess = (isRight ? 0 : 2) + (error == 0 ? 0 : tolerance > 0 ? error / tolerance : error);
  if (excess > findings.worstExcess) {
    findings.worstExcess = excess;
    findings.worst = i;
  }
}

Findings judge(const ReferenceTensor &reference, const HostTensor &actual) {
  constexpr int64_t grain = 1 << 15;
  std::vector<Findings> parts(static_cast<size_t>((reference.size() + grain - 1) / grain));
  bool isFloating = isFloat(reference.dtype);
  FormatFacts facts(reference.dtype);
  reference::parallelFor(reference.size(), grain, [&](int64_t begin, int64_t end) {
    Findings &findings = parts[static_cast<size_t>(begin / grain)];
    for (int64_t i = begin; i < end; ++i) {
      const std::byte *element = actual.element(reference.place(i));
      if (isFloating)
        judgeFloat(reference, i, loadAsDouble(element, reference.dtype), facts, findings);
      else
        judgeInteger(reference, i, loadAsInteger(element, reference.dtype), findings);
    }
  });
  Findings all;
  for (const Findings &part : parts)
    all.merge(part);
  return all;
}

std::vector<int64_t> indexOf(int64_t place, const std::vector<int64_t> &shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = place % shape[i];
    place /= shape[i];
  }
  return index;
}

void describeWorst(const ReferenceTensor &reference, const HostTensor &actual, int64_t worst, VerifyResult &result) {
  auto i = static_cast<size_t>(worst);
  int64_t place = reference.place(worst);
  result.output = reference.name;
  result.worstIndex = indexOf(place, reference.shape);
  result.actual = loadAsDouble(actual.element(place), reference.dtype);
  bool isFloating = isFloat(reference.dtype);
  result.expected = isFloating ? reference.values[i] : static_cast<double>(reference.integers[i]);
  result.tolerance = allowance({result.expected, reference.errors[i]}, reference.dtype);
}

Status checkOutputs(std::span<const ReferenceTensor> references, std::span<const HostTensor> actual) {
  if (actual.size() != references.size())
    return {StatusCode::InvalidArgument,
            std::to_string(actual.size()) + " outputs to verify, expected " + std::to_string(references.size())};
  for (size_t i = 0; i < actual.size(); ++i) {
    const ReferenceTensor &reference = references[i];
    if (actual[i].dtype() != reference.dtype || actual[i].shape() != reference.shape)
      return {StatusCode::InvalidArgument,
              "output " + reference.name + " has shape " + tensorShapeText(actual[i].shape()) + " and dtype " +
                  std::string(dtypeName(actual[i].dtype())) + ", expected " + tensorShapeText(reference.shape) +
                  " and " + std::string(dtypeName(reference.dtype))};
  }
  return Status::ok();
}

/// A sample costs about half of what the whole may cost at most, but has no fewer than four rows.
RowSelection selectionFor(const ReferenceCost &cost, uint64_t seed) {
  constexpr int64_t fewest = 4, most = 1 << 16;
  auto affordable = static_cast<int64_t>(std::min(fullReferenceFlops / 2 / cost.rowFlops, double{most}));
  return {std::clamp<int64_t>(affordable, fewest, most), seed};
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

} // namespace

std::string VerifyResult::summary() const {
  std::string place = output + "[";
  for (size_t i = 0; i < worstIndex.size(); ++i)
    place += (i ? ", " : "") + std::to_string(worstIndex[i]);
  place += "]";
  std::string sample = sampled ? " (" + std::to_string(rows) + " of " + std::to_string(allRows) + " rows sampled)" : "";
  if (ok)
    return "ok, largest error " + number(maxAbsError) + " absolute, " + number(maxRelError) + " relative" + sample;
  return std::to_string(wrong) + " of " + std::to_string(checked) + " elements wrong" +
         (misplacedNan ? ", " + std::to_string(misplacedNan) + " with NaN in the wrong place" : "") + ", worst " +
         place + " = " + number(actual) + ", expected " + number(expected) + " within " + number(tolerance) + sample;
}

Expected<VerifyResult> compareWithReference(std::span<const ReferenceTensor> references,
                                            std::span<const HostTensor> actual) {
  TILEJIT_RETURN_IF_ERROR(checkOutputs(references, actual));
  VerifyResult result;
  double worstExcess = -1;
  for (size_t i = 0; i < references.size(); ++i) {
    Findings findings = judge(references[i], actual[i]);
    result.maxAbsError = std::max(result.maxAbsError, findings.maxAbs);
    result.maxRelError = std::max(result.maxRelError, findings.maxRel);
    result.wrong += findings.wrong;
    result.misplacedNan += findings.misplacedNan;
    result.checked += references[i].size();
    result.total += actual[i].elements();
    result.rows += references[i].rows;
    result.allRows += references[i].allRows;
    if (findings.worst >= 0 && findings.worstExcess > worstExcess) {
      worstExcess = findings.worstExcess;
      describeWorst(references[i], actual[i], findings.worst, result);
    }
  }
  result.ok = result.wrong == 0;
  result.sampled = result.checked < result.total;
  return result;
}

Expected<VerifyResult> verify(const Description &description, const Binding &binding,
                              std::span<const HostTensor> inputs, std::span<const HostTensor> actual, uint64_t seed) {
  ReferenceCost cost = referenceCost(description, binding);
  bool isLong = cost.total() > fullReferenceFlops;
  RowSelection selection = isLong ? selectionFor(cost, seed) : RowSelection{};
  std::vector<ReferenceTensor> references;
  TILEJIT_RETURN_IF_ERROR(evaluateReference(description, binding, inputs, references, isLong ? &selection : nullptr));
  TILEJIT_ASSIGN_OR_RETURN(VerifyResult result, compareWithReference(references, actual));
  result.rule = toleranceRule(description);
  return result;
}

} // namespace tilejit
