// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How reports and checks are spelled: the plug-in and its callers say the same.

#include "tilejit/Simulator/Simulator.h"

namespace tilejit::sim {

std::string_view reportKindName(ReportKind kind) {
  static constexpr std::string_view names[numReportKinds] = {
      "race",       "bounds",   "misaligned", "uninitialized", "async",  "proxy", "barrier",
      "divergence", "fragment", "deadlock",   "budget",        "assert", "trap"};
  return names[static_cast<unsigned>(kind)];
}

std::string_view checkName(Check check) {
  static constexpr std::string_view names[numChecks] = {"race",  "bounds",     "alignment", "uninitialized", "async",
                                                        "proxy", "divergence", "fragment",  "bank"};
  return names[static_cast<unsigned>(check)];
}

} // namespace tilejit::sim
