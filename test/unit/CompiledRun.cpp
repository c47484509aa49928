// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The back ends, and the devices that the runtime has.

#include "CompiledRun.h"

#include "AmxTrap.h"
#include "EmulatedRun.h"

#include "tilejit/Device/Cpu.h"
#include "tilejit/Device/Sim.h"
#include "tilejit/Driver/Driver.h"
#include "tilejit/Target/TargetSpec.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

namespace tilejit::test {

namespace {

std::unique_ptr<Device> makeSimulated(const std::string &chip) {
  Expected<std::vector<std::string>> chips = simulatedChips("");
  INFO(chips.status().message());
  REQUIRE(chips.isOk());
  Expected<std::unique_ptr<Device>> device =
      makeSimDevice({}, static_cast<int>(std::find(chips->begin(), chips->end(), chip) - chips->begin()));
  INFO(device.status().message());
  REQUIRE(device.isOk());
  return *std::move(device);
}

/// One device for each chip, and one for the CPU; kept from test to test.
Device &deviceOf(const TargetSpec &target) {
  static std::map<std::string, std::unique_ptr<Device>> all;
  std::unique_ptr<Device> &device = all[target.isCpu() ? "cpu" : target.cpu];
  if (!device)
    device = target.isCpu() ? makeCpuDevice({}) : makeSimulated(target.cpu);
  return *device;
}

/// Device memory of an operand, which ends with its owner.
class Memory {
public:
  Memory(Device &device, const RunOperand &operand) : device_(device) {
    Expected<void *> memory = device.allocate(operand.byteCount, "operand");
    REQUIRE(memory.isOk());
    data = *memory;
    if (operand.isWritten)
      REQUIRE(device.copyToDevice(data, operand.bytes, operand.byteCount).isOk());
  }
  Memory(Memory &&other) noexcept : data(std::exchange(other.data, nullptr)), device_(other.device_) {}
  ~Memory() { device_.release(data); }
  void *data = nullptr;

private:
  Device &device_;
};

} // namespace

TargetSpec runTarget(std::string_view name) {
  if (name == "cpu-amx")
    return hostWithAmx();
  Expected<TargetSpec> target = name == "cpu" || name == "cpu-twin" ? hostTarget() : parseTarget(name);
  INFO(target.status().message());
  REQUIRE(target.isOk());
  if (name == "cpu-twin") {
    CpuPorts &ports = target->cpuFacts.ports;
    ports.fma = target->cpuFacts.prefersBf16Dot() ? 2 * ports.bf16Dots : 1;
  }
  return *std::move(target);
}

CompiledRun::CompiledRun(abi::CompileRequest request, const TargetSpec &target) : target_(target) {
  const Backend *const backends[] = {&cpuBackend(), &nvvmBackend(), &rocdlBackend()};
  request.target = encodeTarget(target);
  request.emit = target.isCpu() ? abi::EmitKind::Package : abi::EmitKind::Llvm;
  response = compile(request, backends);
  INFO(response.status.pointer() << ": " << response.status.message());
  REQUIRE(response.status.isOk());
}

RunOutcome CompiledRun::run(std::span<RunOperand> operands) const {
  std::optional<AmxTrap> trap;
  if (target_.isCpu() && needsAmxTrap(target_))
    trap.emplace();
  else if (target_.isCpu() && !runsOnHost(target_).isOk())
    return runEmulated(response.payloads.at(0).bytes, target_, operands);
  Device &device = deviceOf(target_);
  PayloadView payload = target_.isCpu() ? PayloadView{abi::PayloadKind::Elf, response.payloads.at(0).bytes}
                                        : PayloadView{abi::PayloadKind::Bitcode, response.text};
  Expected<std::shared_ptr<LoadedModule>> module = device.load(response.manifest, {&payload, 1});
  INFO(module.status().message());
  REQUIRE(module.isOk());
  std::vector<Memory> memory;
  std::vector<int64_t> slots;
  for (const RunOperand &operand : operands) {
    memory.emplace_back(device, operand);
    slots.push_back(reinterpret_cast<int64_t>(memory.back().data));
    slots.insert(slots.end(), operand.sizesAndStrides.begin(), operand.sizesAndStrides.end());
  }
  LaunchArguments launch;
  launch.slots = slots;
  LaunchOutcome outcome;
  Status ran = device.launch(**module, launch, outcome);
  INFO(ran.message());
  REQUIRE(ran.isOk());
  for (size_t i = 0; i < operands.size(); ++i)
    REQUIRE(device.copyToHost(operands[i].bytes, memory[i].data, operands[i].byteCount).isOk());
  return {outcome.failedAssertion, outcome.simulated ? *outcome.simulated : sim::Outcome()};
}

RunOutcome CompiledRun::runClean(std::span<RunOperand> operands) const {
  RunOutcome outcome = run(operands);
  for (const sim::Report &report : outcome.simulated.reports)
    FAIL_CHECK(report.message << " at " << report.site);
  CHECK(outcome.failedAssertion == -1);
  return outcome;
}

} // namespace tilejit::test
