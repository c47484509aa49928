// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the kernels of the operator library compute, said by the interpreter, against the double-precision reference:
// every case with fresh random inputs, within the tolerance that follows from the arithmetic.

#include "OpLibTrial.h"

#include "tilejit/Interpreter/Interpreter.h"
#include "tilejit/OpLib/OpLib.h"

using namespace tilejit;
using namespace tilejit::test;

namespace {

void runCase(mlir::MLIRContext &context, const OpLibCase &example, const abi::Config &given, uint64_t seed) {
  INFO(example.text << " " << example.sizes);
  Trial trial(example, seed);
  TargetSpec target;
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

void runAll(const std::vector<OpLibCase> &cases, const abi::Config &given = {}) {
  uint64_t seed = freshSeed();
  INFO("seed " << seed);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const OpLibCase &example : cases)
    runCase(context, example, given, seed);
}

} // namespace

TEST_CASE("matmul kernels compute the product", "[oplib]") { runAll(matmulCases()); }
TEST_CASE("matmul kernels with odd tiles compute the product", "[oplib]") {
  runAll(matmulCases(), {{"bm", 3}, {"bn", 5}, {"bk", 2}});
}
TEST_CASE("elementwise kernels compute their expressions", "[oplib]") { runAll(elementwiseCases()); }
TEST_CASE("reductions agree with the reference", "[oplib]") { runAll(reduceCases()); }
TEST_CASE("reductions in narrow steps and short parts agree", "[oplib]") {
  runAll(reduceCases(), {{"bn", 7}, {"chunk", 1024}});
}
TEST_CASE("softmax and norms agree with the reference", "[oplib]") { runAll(rowCases()); }
TEST_CASE("softmax and norms in narrow steps agree", "[oplib]") { runAll(rowCases(), {{"bn", 9}}); }
TEST_CASE("transpositions and casts agree with the reference", "[oplib]") { runAll(moveCases()); }
