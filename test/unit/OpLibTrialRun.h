// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The whole way of a trial: its description compiled for a target, and launched on its memory.

#ifndef TILEJIT_TEST_UNIT_OPLIBTRIALRUN_H
#define TILEJIT_TEST_UNIT_OPLIBTRIALRUN_H

#include "CompiledRun.h"
#include "OpLibTrial.h"

#include "tilejit/Target/TargetSpec.h"

namespace tilejit::test {

inline RunOutcome runTrial(Trial &trial, const TargetSpec &target, const abi::Config &config) {
  abi::CompileRequest request;
  request.source = canonicalJson(trial.description);
  request.sourceName = "test.json";
  request.config = config;
  std::vector<RunOperand> operands;
  for (OperandMemory &block : trial.memory) {
    std::vector<int64_t> numbers = block.shape;
    numbers.insert(numbers.end(), block.strides.begin(), block.strides.end());
    bool isOutput = operands.size() >= trial.inputs.size();
    operands.push_back(
        {numbers, static_cast<char *>(block.bytes.data()), int64_t(block.bytes.sizeInBytes()), !isOutput});
  }
  return CompiledRun(request, target).runClean(operands);
}

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_OPLIBTRIALRUN_H
