// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Trials: layout, copies, judgement.

#include "OpLibTrial.h"

#include "tilejit/Base/Float.h"
#include "tilejit/Base/Text.h"
#include "tilejit/Reference/Random.h"
#include "tilejit/Reference/Verify.h"

#include <cstring>
#include <limits>
#include <random>
#include <span>

namespace tilejit::test {

OperandMemory::OperandMemory(const Operand &operand, const std::vector<int64_t> &actualShape)
    : shape(actualShape), strides(denseStrides(actualShape)), isDense(!operand.strides),
      elementBytes_(storageBytes(operand.dtype)) {
  int64_t next = 1, last = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (operand.strides) {
      const Stride &stride = (*operand.strides)[d];
      strides[d] = stride.kind == Stride::Kind::Constant ? stride.value : next;
    }
    next *= std::max<int64_t>(1, shape[d]);
    last += std::max<int64_t>(0, shape[d] - 1) * strides[d];
  }
  Expected<HostTensor> block = HostTensor::allocate(DType::U8, {(last + 1) * elementBytes_});
  REQUIRE(block.isOk());
  bytes = *std::move(block);
}

void OperandMemory::copy(HostTensor &tensor, bool toTensor) {
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    int64_t rest = i, offset = 0;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      offset += rest % shape[d] * strides[d];
    std::byte *here = bytes.element(offset * elementBytes_), *there = tensor.element(i);
    std::memcpy(toTensor ? there : here, toTensor ? here : there, static_cast<size_t>(elementBytes_));
  }
}

static Binding boundSizes(const Description &description, const std::string &sizes) {
  std::vector<std::string> settings;
  for (std::string_view setting : splitText(sizes, ','))
    if (!setting.empty())
      settings.emplace_back(setting);
  Expected<Binding> binding = bindFromSettings(description, settings);
  REQUIRE(binding.isOk());
  REQUIRE(binding->isComplete());
  return *binding;
}

Trial::Trial(const OpLibCase &example, uint64_t seed)
    : seed(seed), description(parsed(example.text)), binding(boundSizes(description, example.sizes)) {
  for (size_t i = 0; i < description.inputs.size(); ++i) {
    Expected<HostTensor> input = randomInput(description, binding, static_cast<int>(i), seed);
    REQUIRE(input.isOk());
    memory.emplace_back(description.inputs[i], input->shape()).copyFrom(*input);
    inputs.push_back(*std::move(input));
  }
  for (const Operand &output : description.outputs) {
    memory.emplace_back(output, binding.shape(output));
    memory.back().bytes.fillBytes(0xa5);
  }
}

void Trial::judge() {
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < description.outputs.size(); ++i) {
    OperandMemory &block = memory[inputs.size() + i];
    Expected<HostTensor> tensor = HostTensor::allocate(description.outputs[i].dtype, block.shape);
    REQUIRE(tensor.isOk());
    block.copyTo(*tensor);
    outputs.push_back(*std::move(tensor));
  }
  Expected<VerifyResult> result = verify(description, binding, inputs, outputs, seed);
  REQUIRE(result.isOk());
  INFO(result->summary());
  CHECK(result->ok);
}

void poisonCaches(Trial &trial) {
  HostTensor &table = trial.inputs[3], &lengths = trial.inputs[4];
  const std::vector<int64_t> &cache = trial.inputs[1].shape();
  int64_t page = cache[1], row = cache[2] * cache[3], pagesOfEach = table.shape()[1];
  std::vector<bool> isUsed(static_cast<size_t>(cache[0] * page));
  for (int64_t b = 0; b < lengths.elements(); ++b)
    for (int64_t j = 0; j < loadAsInteger(lengths.element(b), lengths.dtype()); ++j) {
      int64_t number = loadAsInteger(table.element(b * pagesOfEach + j / page), table.dtype());
      isUsed[static_cast<size_t>(number * page + j % page)] = true;
    }
  for (size_t input : {1, 2}) {
    HostTensor &tensor = trial.inputs[input];
    for (int64_t i = 0; i < tensor.elements(); ++i)
      if (!isUsed[static_cast<size_t>(i / row)])
        storeDouble(tensor.element(i), tensor.dtype(), std::numeric_limits<double>::quiet_NaN());
    trial.memory[input].copyFrom(tensor);
  }
}

void spoilTables(Trial &trial) {
  constexpr int64_t values[] = {-1, -2147483648, 2147483647, 1 << 20, -77};
  for (size_t input : {3, 4}) {
    HostTensor &tensor = trial.inputs[input];
    for (int64_t i = 0; i < tensor.elements(); ++i)
      storeIntegers(tensor.element(i), tensor.dtype(), std::span(&values[(i + input) % std::size(values)], 1));
    trial.memory[input].copyFrom(tensor);
  }
}

uint64_t freshSeed() { return std::random_device()(); }

} // namespace tilejit::test
