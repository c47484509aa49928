// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The whole way of a trial: its description compiled for a target, and launched on its memory.

#ifndef TILEJIT_TEST_UNIT_OPLIBTRIALRUN_H
#define TILEJIT_TEST_UNIT_OPLIBTRIALRUN_H

#include "CompiledRun.h"
#include "OpLibTrial.h"

#include "tilejit/Target/TargetSpec.h"

namespace tilejit::test {

inline abi::CompileRequest requestOf(const Trial &trial, const abi::Config &config) {
  abi::CompileRequest request;
  request.source = canonicalJson(trial.description);
  request.sourceName = "test.json";
  request.config = config;
  return request;
}

/// The trial's memory as a kernel's operands, in their order.
inline std::vector<RunOperand> operandsOf(Trial &trial) {
  std::vector<RunOperand> operands;
  for (OperandMemory &block : trial.memory) {
    std::vector<int64_t> numbers = block.shape;
    numbers.insert(numbers.end(), block.strides.begin(), block.strides.end());
    bool isOutput = operands.size() >= trial.inputs.size();
    operands.push_back(
        {numbers, static_cast<char *>(block.bytes.data()), int64_t(block.bytes.sizeInBytes()), !isOutput});
  }
  return operands;
}

inline RunOutcome runTrial(Trial &trial, const TargetSpec &target, const abi::Config &config) {
  std::vector<RunOperand> operands = operandsOf(trial);
  return CompiledRun(requestOf(trial, config), target).runClean(operands);
}

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_OPLIBTRIALRUN_H
