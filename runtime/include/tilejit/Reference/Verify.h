// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Compares a kernel's outputs with the reference. Every element is judged by the rule of Tolerance.h; where the whole
// reference would be too long, a sample of rows is, and the result says so.

#ifndef TILEJIT_REFERENCE_VERIFY_H
#define TILEJIT_REFERENCE_VERIFY_H

#include "tilejit/Base/Status.h"
#include "tilejit/Description/Description.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/Reference/HostTensor.h"
#include "tilejit/Reference/Reference.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilejit {

struct VerifyResult {
  bool ok = true;
  /// Largest |actual - reference| and the largest share of |reference| (where that is a normal number) over all
  /// elements; infinite where one of them is NaN or infinite and the other is not the same.
  double maxAbsError = 0;
  double maxRelError = 0;
  /// The element that comes nearest to its tolerance, or exceeds it the most.
  std::string output;
  std::vector<int64_t> worstIndex;
  double actual = 0;
  double expected = 0;      ///< Before rounding to the output's dtype.
  double tolerance = 0;     ///< Accepted distance from `expected` there; infinite where there is no bound.
  std::string rule;         ///< What the tolerance came from, in words.
  int64_t wrong = 0;        ///< Elements outside their tolerance.
  int64_t misplacedNan = 0; ///< Of these, where only one of actual and expected is NaN.
  int64_t checked = 0;      ///< Elements compared.
  int64_t total = 0;        ///< Elements of all outputs.
  int64_t rows = 0;         ///< Rows of the reference that were computed, of allRows.
  int64_t allRows = 0;
  bool sampled = false;

  /// One line: "ok, largest error 1.2e-06 ..." or "3 of 640 wrong, worst c[2, 7] = ...".
  std::string summary() const;
};

/// Floating-point operations up to which the whole reference is computed.
inline constexpr double fullReferenceFlops = 4e9;

/// Compares outputs in the order of the description. A failed comparison is a result, not an error; errors are inputs
/// or outputs of another dtype or shape than the description's, and lack of memory. `seed` chooses the sampled rows.
Expected<VerifyResult> verify(const Description &description, const Binding &binding,
                              std::span<const HostTensor> inputs, std::span<const HostTensor> actual, uint64_t seed);

/// The same with outputs that evaluateReference() made before, perhaps elsewhere. The result has no rule.
Expected<VerifyResult> compareWithReference(std::span<const ReferenceTensor> references,
                                            std::span<const HostTensor> actual);

} // namespace tilejit

#endif // TILEJIT_REFERENCE_VERIFY_H
