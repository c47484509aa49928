// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How reports and checks are spelled, and how counters add up: the plug-in and its callers do the same.

#include "tilejit/Simulator/Simulator.h"

namespace tilejit::sim {

Counters &Counters::operator+=(const Counters &other) {
  instructions += other.instructions;
  threadInstructions += other.threadInstructions;
  divergentInstructions += other.divergentInstructions;
  matrixInstructions += other.matrixInstructions;
  atomics += other.atomics;
  sharedRequests += other.sharedRequests;
  sharedWavefronts += other.sharedWavefronts;
  sharedWavefrontsIdeal += other.sharedWavefrontsIdeal;
  globalRequests += other.globalRequests;
  sectors += other.sectors;
  sectorsIdeal += other.sectorsIdeal;
  bytesGlobalRead += other.bytesGlobalRead;
  bytesGlobalWritten += other.bytesGlobalWritten;
  bytesShared += other.bytesShared;
  return *this;
}

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
