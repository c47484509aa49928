// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the kernels of the operator library compute, said by the interpreter, against the double-precision reference:
// every case with fresh random inputs, within the tolerance that follows from the arithmetic.

#include "OpLibCases.h"

#include "tilejit/Base/Text.h"
#include "tilejit/Interpreter/Interpreter.h"
#include "tilejit/OpLib/OpLib.h"
#include "tilejit/Reference/Random.h"
#include "tilejit/Reference/Verify.h"

#include <cstring>
#include <random>

using namespace tilejit;
using namespace tilejit::test;

namespace {

Binding boundSizes(const Description &description, const std::string &sizes) {
  std::vector<std::string> settings;
  for (std::string_view setting : splitText(sizes, ','))
    if (!setting.empty())
      settings.emplace_back(setting);
  Expected<Binding> binding = bindFromSettings(description, settings);
  REQUIRE(binding.isOk());
  REQUIRE(binding->isComplete());
  return *binding;
}

/// Memory of an operand as the description lays it out; what the description leaves open lies column by column.
struct Memory {
  Memory(const Operand &operand, const std::vector<int64_t> &actualShape) : shape(actualShape), strides(shape.size()) {
    int64_t next = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      strides[d] = next;
      next *= std::max<int64_t>(1, shape[d]);
    }
    isDense = !operand.strides;
    if (isDense)
      strides = denseStrides(shape);
    else
      for (size_t d = 0; d < shape.size(); ++d)
        if (const Stride &stride = (*operand.strides)[d]; stride.kind == Stride::Kind::Constant)
          strides[d] = stride.value;
    int64_t last = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      last += std::max<int64_t>(0, shape[d] - 1) * strides[d];
    elementBytes = storageBytes(operand.dtype);
    Expected<HostTensor> block = HostTensor::allocate(DType::U8, {(last + 1) * elementBytes});
    REQUIRE(block.isOk());
    bytes = *std::move(block);
  }

  /// Copies between this memory and a dense tensor.
  void copy(HostTensor &tensor, bool toTensor) {
    std::vector<int64_t> at(shape.size());
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      int64_t rest = i, offset = 0;
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
        offset += rest % shape[d] * strides[d];
      std::byte *here = bytes.element(offset * elementBytes), *there = tensor.element(i);
      std::memcpy(toTensor ? there : here, toTensor ? here : there, static_cast<size_t>(elementBytes));
    }
  }

  HostArgument argument() {
    llvm::ArrayRef<int64_t> given = isDense ? llvm::ArrayRef<int64_t>() : llvm::ArrayRef<int64_t>(strides);
    return HostArgument::view(bytes.data(), bytes.elements(), shape, given);
  }

  std::vector<int64_t> shape, strides;
  int64_t elementBytes = 1;
  bool isDense = true;
  HostTensor bytes; ///< Aligned to 64 bytes.
};

void runCase(mlir::MLIRContext &context, const OpLibCase &example, const abi::Config &given, uint64_t seed) {
  INFO(example.text << " " << example.sizes);
  Description description = parsed(example.text);
  Binding binding = boundSizes(description, example.sizes);
  TargetSpec target;
  Expected<abi::Config> config = chooseConfig(description, target, given);
  REQUIRE(config.isOk());
  mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(context, description, target, *config);

  std::vector<HostTensor> inputs, outputs;
  std::vector<Memory> memory;
  for (size_t i = 0; i < description.inputs.size(); ++i) {
    Expected<HostTensor> input = randomInput(description, binding, static_cast<int>(i), seed);
    REQUIRE(input.isOk());
    memory.emplace_back(description.inputs[i], input->shape()).copy(*input, false);
    inputs.push_back(*std::move(input));
  }
  for (const Operand &output : description.outputs) {
    Expected<HostTensor> tensor = HostTensor::allocate(output.dtype, binding.shape(output));
    REQUIRE(tensor.isOk());
    memory.emplace_back(output, tensor->shape());
    outputs.push_back(*std::move(tensor));
  }
  llvm::SmallVector<HostArgument> arguments;
  for (Memory &block : memory)
    arguments.push_back(block.argument());
  Status ran = interpret(*module, arguments);
  INFO(ran.pointer() << ": " << ran.message());
  REQUIRE(ran.isOk());
  for (size_t i = 0; i < outputs.size(); ++i)
    memory[description.inputs.size() + i].copy(outputs[i], true);
  Expected<VerifyResult> result = verify(description, binding, inputs, outputs, seed);
  REQUIRE(result.isOk());
  INFO(result->summary());
  CHECK(result->ok);
}

void runAll(const std::vector<OpLibCase> &cases, const abi::Config &given = {}) {
  uint64_t seed = std::random_device()();
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
