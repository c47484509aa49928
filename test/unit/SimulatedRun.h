// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// For tests: compiles for a GPU and runs the optimised IR on the simulator, in one process.

#ifndef TILEJIT_TEST_UNIT_SIMULATEDRUN_H
#define TILEJIT_TEST_UNIT_SIMULATEDRUN_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Simulator/Simulator.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::test {

/// Memory of one operand: what its kernel parameters say beside the address, and bytes that go in and out.
struct SimulatedOperand {
  std::vector<int64_t> sizesAndStrides; ///< None for a bare pointer.
  char *bytes = nullptr;
  int64_t byteCount = 0;
  bool isWritten = true; ///< Holds data before the launch.
};

/// What the simulator had to say, launch by launch.
struct SimulatedOutcome {
  std::vector<sim::Report> reports;
  std::vector<sim::Counters> counters;
  int64_t failedAssertion = -1;
};

/// A request compiled for a chip of the simulator.
class SimulatedKernel {
public:
  /// Compiles; a failure fails the test.
  SimulatedKernel(abi::CompileRequest request, std::string_view target);
  /// Runs all phases. `grid` takes the place of a missing launch rule.
  SimulatedOutcome run(std::span<SimulatedOperand> operands);

  abi::CompileResponse response;

private:
  std::string target_;
};

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_SIMULATEDRUN_H
