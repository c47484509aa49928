// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the simulator said about a launch, as text and JSON, and the options by which users change what it checks: the
// same for tilec simulate and for kernels on sim: devices.

#ifndef TILEJIT_TOOLS_TILEC_SIMULATEDOUTCOME_H
#define TILEJIT_TOOLS_TILEC_SIMULATEDOUTCOME_H

#include "Program.h"

#include "tilejit/Simulator/Simulator.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tilejit::tilec {

/// --no-check and --schedule-seed.
struct SimulationWords {
  std::vector<std::string> noCheck;
  std::string seed;

  void addTo(CLI::App &command, const char *seedOption = "--schedule-seed");
  bool isGiven() const { return !noCheck.empty() || !seed.empty(); }
  /// Everything else as it is by default.
  Expected<sim::Options> parse() const;
};

Json countersJson(const sim::Counters &counters);
/// An array with an object for each report.
Json simulatedReportsJson(const sim::Outcome &outcome);
/// All reports for people, some lines each.
std::string simulatedReportsText(const sim::Outcome &outcome);
/// Counters and speed for people, some lines.
std::string simulatedCountersText(const sim::Outcome &outcome);
double threadInstructionsPerSecond(const sim::Outcome &outcome);
/// "reduce.cu:12:5: store ...", one line.
std::string placeText(const std::string &location, const std::string &site);
/// "1,024/512", "-" where both are zero.
std::string pairText(uint64_t actual, uint64_t ideal);
/// "1,234,567".
std::string groupedText(uint64_t value);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_SIMULATEDOUTCOME_H
