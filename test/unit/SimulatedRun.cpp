// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Compiles, evaluates the launch rules, launches.

#include "SimulatedRun.h"

#include "tilejit/Driver/Driver.h"
#include "tilejit/Simulator/PluginLoader.h"
#include "tilejit/Target/TargetSpec.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <map>

namespace tilejit::test {

namespace {

sim::Simulator &simulatorOf(std::string_view chip) {
  static std::map<std::string, std::unique_ptr<sim::Simulator>, std::less<>> all;
  auto found = all.find(chip);
  if (found == all.end()) {
    Expected<const sim::Plugin *> plugin = sim::openSimulator("");
    INFO(plugin.status().message());
    REQUIRE(plugin.isOk());
    Expected<std::unique_ptr<sim::Simulator>> simulator = (*plugin)->create(chip);
    REQUIRE(simulator.isOk());
    found = all.emplace(std::string(chip), *std::move(simulator)).first;
  }
  return *found->second;
}

int64_t floorDivide(int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }

int64_t evaluate(const abi::LaunchExpr &expr, const std::vector<int64_t> &sizes) {
  std::vector<int64_t> stack;
  using Op = abi::LaunchExpr::Op;
  for (const abi::LaunchExpr::Step &step : expr.steps) {
    if (step.op == Op::Constant || step.op == Op::Size) {
      stack.push_back(step.op == Op::Size ? sizes[size_t(step.value)] : step.value);
      continue;
    }
    int64_t y = stack.back();
    stack.pop_back();
    int64_t &x = stack.back();
    switch (step.op) {
    case Op::Add:
      x += y;
      break;
    case Op::Mul:
      x *= y;
      break;
    case Op::FloorDiv:
      x = floorDivide(x, y);
      break;
    case Op::CeilDiv:
      x = -floorDivide(-x, y);
      break;
    default:
      x -= floorDivide(x, y) * y;
      break;
    }
  }
  return stack.empty() ? 0 : stack.back();
}

std::vector<uint8_t> bytesOf(int64_t value) {
  std::vector<uint8_t> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Device memory that ends with its owner.
class Memory {
public:
  Memory(sim::Simulator &simulator, int64_t bytes, std::string_view name, bool initialized) : simulator_(simulator) {
    Expected<void *> memory = simulator.allocate(bytes, name, initialized);
    REQUIRE(memory.isOk());
    data = static_cast<char *>(*memory);
  }
  Memory(Memory &&other) noexcept : data(std::exchange(other.data, nullptr)), simulator_(other.simulator_) {}
  ~Memory() {
    if (data)
      simulator_.release(data);
  }
  char *data;

private:
  sim::Simulator &simulator_;
};

bool holds(const abi::GpuKernel &kernel, const std::vector<int64_t> &sizes) {
  for (const abi::LaunchCondition &condition : kernel.when) {
    int64_t value = evaluate(condition.expr, sizes);
    if (condition.isEquality ? value != 0 : value < 0)
      return false;
  }
  return true;
}

} // namespace

SimulatedKernel::SimulatedKernel(abi::CompileRequest request, std::string_view target) : target_(target) {
  const Backend *const backends[] = {&nvvmBackend(), &rocdlBackend()};
  Expected<TargetSpec> spec = parseTarget(target);
  REQUIRE(spec.isOk());
  request.target = encodeTarget(*spec);
  request.emit = abi::EmitKind::Llvm;
  response = compile(request, backends);
  INFO(response.status.pointer() << ": " << response.status.message());
  REQUIRE(response.status.isOk());
}

SimulatedOutcome SimulatedKernel::run(std::span<SimulatedOperand> operands) {
  sim::Simulator &simulator = simulatorOf(target_);
  Expected<std::shared_ptr<sim::Module>> module = simulator.load(response.text, "kernel");
  INFO(module.status().message());
  REQUIRE(module.isOk());
  std::vector<Memory> memory;
  std::vector<int64_t> slots;
  for (SimulatedOperand &operand : operands) {
    Memory &own = memory.emplace_back(simulator, operand.byteCount, "operand", operand.isWritten);
    if (operand.isWritten && operand.byteCount > 0)
      std::memcpy(own.data, operand.bytes, size_t(operand.byteCount));
    slots.push_back(reinterpret_cast<int64_t>(own.data));
    slots.insert(slots.end(), operand.sizesAndStrides.begin(), operand.sizesAndStrides.end());
  }
  const abi::GpuLaunch &launch = response.manifest.gpu;
  std::vector<int64_t> sizes;
  for (auto [slot, known] : launch.sizes)
    sizes.push_back(slot < 0 ? known : slots[size_t(slot)]);
  int64_t workspaceBytes = 0, phases = 0;
  for (const abi::GpuKernel &kernel : launch.kernels) {
    workspaceBytes = std::max(workspaceBytes, evaluate(kernel.workspace, sizes));
    phases = std::max(phases, kernel.phase + 1);
  }
  Memory workspace(simulator, workspaceBytes, "workspace", false), status(simulator, 8, "status", true);
  std::memset(status.data, 0, 8);
  SimulatedOutcome result;
  for (int64_t phase = 0; phase < phases; ++phase)
    for (const abi::GpuKernel &kernel : launch.kernels) {
      if (kernel.phase != phase || !holds(kernel, sizes))
        continue;
      int64_t counts[3] = {1, 1, 1};
      for (size_t axis = 0; axis < kernel.grid.size(); ++axis)
        counts[axis] = evaluate(kernel.grid[axis], sizes);
      sim::LaunchRequest request;
      request.kernel = kernel.symbol;
      request.grid[0] = uint32_t(counts[0] * counts[1] * counts[2]);
      request.block[0] = uint32_t(kernel.threads);
      request.dynamicSharedBytes = uint32_t(kernel.sharedBytes);
      for (int64_t slot : slots)
        request.arguments.push_back(bytesOf(slot));
      if (kernel.takesWorkspace)
        request.arguments.push_back(bytesOf(reinterpret_cast<int64_t>(workspace.data)));
      if (kernel.takesStatus)
        request.arguments.push_back(bytesOf(reinterpret_cast<int64_t>(status.data)));
      for (int64_t count : counts)
        request.arguments.push_back(bytesOf(count));
      request.arguments.push_back(bytesOf(0));
      if (request.grid[0] > 0) {
        Expected<sim::Outcome> outcome = simulator.launch(**module, request, {});
        INFO(outcome.status().message());
        REQUIRE(outcome.isOk());
        result.reports.insert(result.reports.end(), outcome->reports.begin(), outcome->reports.end());
        result.counters.push_back(outcome->counters);
      }
      break;
    }
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].byteCount > 0)
      std::memcpy(operands[i].bytes, memory[i].data, size_t(operands[i].byteCount));
  int64_t failed = 0;
  std::memcpy(&failed, status.data, 8);
  result.failedAssertion = failed - 1;
  return result;
}

} // namespace tilejit::test
