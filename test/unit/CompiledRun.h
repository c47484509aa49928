// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// For tests: compiles for a CPU or a chip of the simulator and runs: on this machine's CPU and the simulator in this
// process, on other kinds of CPU under an emulator.

#ifndef TILEJIT_TEST_UNIT_COMPILEDRUN_H
#define TILEJIT_TEST_UNIT_COMPILEDRUN_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Simulator/Simulator.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::test {

/// Memory of one operand: what its kernel parameters say beside the address, and bytes that go in and out.
struct RunOperand {
  std::vector<int64_t> sizesAndStrides; ///< None for a bare pointer.
  char *bytes = nullptr;
  int64_t byteCount = 0;
  bool isWritten = true; ///< Holds data before the launch.
};

struct RunOutcome {
  int64_t failedAssertion = -1;
  sim::Outcome simulated; ///< Nothing in it for the CPU.
};

/// A request compiled for a target.
class CompiledRun {
public:
  /// Compiles; a failure fails the test. `target`: one that this machine's CPU or an emulator runs, or a GPU that can
  /// be simulated.
  CompiledRun(abi::CompileRequest request, const TargetSpec &target);
  /// Loads `response` and launches it. Assertions and the simulator's reports are the caller's to judge.
  RunOutcome run(std::span<RunOperand> operands) const;
  /// The same where neither may be: they fail the test.
  RunOutcome runClean(std::span<RunOperand> operands) const;

  abi::CompileResponse response;

private:
  const TargetSpec target_;
};

/// "cpu" is this machine's CPU; "cpu-twin" one like it on which the choice between two forms of a product that rests on
/// how fast their instructions are falls the other way; "cpu-amx" one with AMX, which is trapped where it is missing.
TargetSpec runTarget(std::string_view name);

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_COMPILEDRUN_H
