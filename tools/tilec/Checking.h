// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The comparison of an execution with its reference, in the forms in which tilec reports it.

#ifndef TILEJIT_TOOLS_TILEC_CHECKING_H
#define TILEJIT_TOOLS_TILEC_CHECKING_H

#include "Execution.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilejit::tilec {

/// What a comparison found.
struct CheckOutcome {
  bool ok = false;
  double maxAbsError = 0, maxRelError = 0;
  std::string worstOutput;
  std::vector<int64_t> worstIndex;
  double tolerance = 0; ///< Allowed error at the worst place.
  std::string rule;     ///< Where the tolerance comes from.
  std::string problem;  ///< What is wrong; empty where all is well.
  std::string sampling; ///< Which part was compared, where not all of it was.

  void addTo(Json &json) const;
  /// One line for people.
  std::string text() const;
};

/// Computes the reference for the execution's inputs and compares its outputs.
Expected<CheckOutcome> checkExecution(const Execution &execution);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_CHECKING_H
