// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The whole way on this machine's CPU, in one process: description, kernels, code, launch, and the judgement of the
// reference. What the interpreter says of the same kernels is in OpLibRunTest.cpp.

#include "OpLibTrial.h"

#include "tilejit/ABI/Compile.h"
#include "tilejit/Device/Cpu.h"
#include "tilejit/Driver/Driver.h"
#include "tilejit/Target/TargetSpec.h"

using namespace tilejit;
using namespace tilejit::test;

namespace {

std::string compilePayload(const Description &description, const TargetSpec &target, const abi::Config &config) {
  const Backend *const backends[] = {&cpuBackend()};
  abi::CompileRequest request;
  request.source = canonicalJson(description);
  request.sourceName = "test.json";
  request.target = encodeTarget(target);
  request.config = config;
  abi::CompileResponse response = compile(request, backends);
  INFO(response.status.pointer() << ": " << response.status.message());
  CHECK(response.status.isOk());
  return response.payloads.at(0).bytes;
}

void launch(Device &device, const std::string &payload, Trial &trial) {
  std::vector<int64_t> slots;
  for (OperandMemory &block : trial.memory) {
    slots.push_back(reinterpret_cast<int64_t>(block.bytes.data()));
    slots.insert(slots.end(), block.shape.begin(), block.shape.end());
    slots.insert(slots.end(), block.strides.begin(), block.strides.end());
  }
  PayloadView view{abi::PayloadKind::Elf, payload};
  Expected<std::shared_ptr<LoadedModule>> module = device.load({}, {&view, 1});
  REQUIRE(module.isOk());
  LaunchArguments arguments;
  arguments.slots = slots;
  LaunchOutcome outcome;
  Status ran = device.launch(**module, arguments, outcome);
  INFO(ran.message());
  REQUIRE(ran.isOk());
}

void runAll(const std::vector<OpLibCase> &cases, const abi::Config &config = {},
            const TargetSpec &target = hostTarget()) {
  uint64_t seed = freshSeed();
  INFO("seed " << seed);
  std::unique_ptr<Device> device = makeCpuDevice({});
  for (const OpLibCase &example : cases) {
    INFO(example.text << " " << example.sizes);
    Trial trial(example, seed);
    std::string payload = compilePayload(trial.description, target, config);
    if (payload.empty())
      continue;
    launch(*device, payload, trial);
    trial.judge();
  }
}

} // namespace

TEST_CASE("compiled products agree with the reference", "[cpu]") { runAll(matmulCases()); }
TEST_CASE("compiled products in odd tiles agree", "[cpu]") { runAll(matmulCases(), {{"bm", 3}, {"bn", 5}, {"bk", 2}}); }
TEST_CASE("compiled expressions agree with the reference", "[cpu]") { runAll(elementwiseCases()); }
TEST_CASE("compiled reductions agree with the reference", "[cpu]") { runAll(reduceCases()); }
TEST_CASE("compiled reductions in short parts agree", "[cpu]") { runAll(reduceCases(), {{"bn", 7}, {"chunk", 1024}}); }
TEST_CASE("compiled softmax and norms agree with the reference", "[cpu]") { runAll(rowCases()); }
TEST_CASE("compiled transpositions and casts agree with the reference", "[cpu]") { runAll(moveCases()); }
TEST_CASE("compiled results larger than the caches agree", "[cpu]") { runAll(largeCases()); }
TEST_CASE("large results agree where the CPU has no masks", "[cpu]") {
  Expected<TargetSpec> target = parseTarget("x86-64-v3");
  REQUIRE(target.isOk());
  if (runsOnHost(*target).isOk())
    runAll(largeCases(), {}, *target);
}
