// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a simulated launch gave, as text, as JSON and as a page.

#ifndef TILEJIT_TOOLS_TILEC_SIMULATERESULT_H
#define TILEJIT_TOOLS_TILEC_SIMULATERESULT_H

#include "Program.h"
#include "SimulatedOutcome.h"

#include "tilejit/Simulator/Simulator.h"

#include <string>

namespace tilejit::tilec {

struct SimulateResult {
  std::string file, target;
  sim::LaunchRequest request;
  sim::Options options;
  sim::Outcome outcome;
  bool wantsSites = false; ///< Counters of each instruction in text and JSON.
};

/// An array with an object for each instruction.
Json sitesJson(const sim::Outcome &outcome);
/// The keys of --json.
Json simulateJson(const SimulateResult &result);
/// Reports first, then counters, for people.
std::string simulateText(const SimulateResult &result);
/// One self-contained HTML page: reports, counters, and the IR beside its counters as a heat map.
std::string simulatePage(const SimulateResult &result);

/// "4x1x1".
std::string sizesText(const uint32_t (&sizes)[3]);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_SIMULATERESULT_H
