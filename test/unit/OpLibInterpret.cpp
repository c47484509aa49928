// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Description, kernels, interpreter, judgement.

#include "OpLibInterpret.h"

#include "OpLibTrial.h"

#include "tilejit/Interpreter/Interpreter.h"
#include "tilejit/OpLib/OpLib.h"

namespace tilejit::test {

static void runCase(mlir::MLIRContext &context, const OpLibCase &example, const TargetSpec &target,
                    const abi::Config &given, uint64_t seed) {
  INFO(example.text << " " << example.sizes);
  Trial trial(example, seed);
  Expected<abi::Config> config = chooseConfig(trial.description, target, given);
  REQUIRE(config.isOk());
  mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(context, trial.description, target, *config);
  llvm::SmallVector<HostArgument> arguments;
  for (OperandMemory &block : trial.memory) {
    llvm::ArrayRef<int64_t> strides =
        block.isDense ? llvm::ArrayRef<int64_t>() : llvm::ArrayRef<int64_t>(block.strides);
    arguments.push_back(HostArgument::view(block.bytes.data(), block.bytes.elements(), block.shape, strides));
  }
  Status ran = interpret(*module, arguments);
  INFO(ran.pointer() << ": " << ran.message());
  REQUIRE(ran.isOk());
  trial.judge();
}

void interpretCases(const std::vector<OpLibCase> &cases, const TargetSpec &target, const abi::Config &given) {
  uint64_t seed = freshSeed();
  INFO("seed " << seed);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const OpLibCase &example : cases)
    runCase(context, example, target, given, seed);
}

} // namespace tilejit::test
