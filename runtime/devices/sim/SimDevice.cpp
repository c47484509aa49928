// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A device over the simulator plug-in. What a launch gives are its results and, beside them, reports and counters of
// all its kernels together. Launches of one device run one after the other.

#include "tilejit/Device/Sim.h"

#include "devices/common/GpuProgram.h"
#include "devices/common/ImmediateDevice.h"
#include "devices/common/PrintBuffer.h"
#include "devices/common/Printer.h"
#include "tilejit/Base/Numbers.h"
#include "tilejit/Simulator/PluginLoader.h"
#include "tilejit/Simulator/Simulator.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tilejit {

namespace simdevice {
namespace {

/// Blocks of one launch of the simulator at most.
constexpr int64_t mostBlocks = int64_t{1} << 31;

class SimModule : public LoadedModule {
public:
  SimModule(std::shared_ptr<sim::Module> module, gpu::GpuProgram program, int64_t bytes)
      : module(std::move(module)), program(std::move(program)), bytes_(bytes) {}
  int64_t bytes() const override { return bytes_; }

  const std::shared_ptr<sim::Module> module;
  const gpu::GpuProgram program;

private:
  const int64_t bytes_;
};

/// Memory that lives as long as one launch.
class Temporary {
public:
  Temporary(sim::Simulator &simulator, void *memory) : simulator_(simulator), memory_(memory) {}
  Temporary(const Temporary &) = delete;
  Temporary &operator=(const Temporary &) = delete;
  ~Temporary() {
    if (memory_)
      simulator_.release(memory_);
  }
  void *get() const { return memory_; }

private:
  sim::Simulator &simulator_;
  void *memory_;
};

/// Adds what one kernel gave to what the launch gave so far.
void append(sim::Outcome &all, sim::Outcome one) {
  auto shift = static_cast<uint32_t>(all.sites.size());
  for (sim::Report &report : one.reports) {
    for (uint32_t *index : {&report.siteIndex, &report.otherSiteIndex})
      *index += *index == ~0u ? 0 : shift;
    all.reports.push_back(std::move(report));
  }
  all.sites.insert(all.sites.end(), std::make_move_iterator(one.sites.begin()),
                   std::make_move_iterator(one.sites.end()));
  all.counters += one.counters;
  all.printed += one.printed;
  all.staticSharedBytes = std::max(all.staticSharedBytes, one.staticSharedBytes);
  all.registerBytes = std::max(all.registerBytes, one.registerBytes);
  all.decodeMs += one.decodeMs;
  all.runMs += one.runMs;
}

/// Whether the kernel was given up, so that what follows would work on nonsense.
bool wasGivenUp(const sim::Outcome &outcome) {
  return std::any_of(outcome.reports.begin(), outcome.reports.end(), [](const sim::Report &report) {
    return report.kind == sim::ReportKind::Deadlock || report.kind == sim::ReportKind::Budget ||
           report.kind == sim::ReportKind::Assert || report.kind == sim::ReportKind::Trap;
  });
}

class SimDevice : public ImmediateDevice {
public:
  SimDevice(std::unique_ptr<sim::Simulator> simulator, DeviceProperties properties, int64_t threads)
      : simulator_(std::move(simulator)), properties_(std::move(properties)), threads_(threads) {}

  const DeviceProperties &properties() const override { return properties_; }
  int64_t freeBytes() const override { return 0; }
  Expected<void *> allocate(int64_t bytes, std::string_view name) override;
  void release(void *memory) override {
    if (memory)
      simulator_->release(memory);
  }
  Status copyToDevice(void *to, const void *from, int64_t bytes) override;
  Status copyToHost(void *to, const void *from, int64_t bytes) override { return copyBytes(to, from, bytes); }
  Expected<std::shared_ptr<LoadedModule>> load(const abi::Manifest &manifest,
                                               std::span<const PayloadView> payloads) override;
  Expected<int64_t> workspaceBytes(const LoadedModule &module, const LaunchArguments &arguments) override;
  Status launch(const LoadedModule &module, const LaunchArguments &arguments, LaunchOutcome &outcome) override;

private:
  struct Run; // One launch on its way.

  sim::Options optionsOf(const LaunchArguments &arguments) const;
  Status runKernel(Run &run, const gpu::PlannedKernel &planned);

  const std::unique_ptr<sim::Simulator> simulator_;
  const DeviceProperties properties_;
  const int64_t threads_;
  std::mutex launching_;
};

Expected<void *> SimDevice::allocate(int64_t bytes, std::string_view name) {
  return simulator_->allocate(bytes, name.empty() ? "buffer" : name, false);
}

Status SimDevice::copyToDevice(void *to, const void *from, int64_t bytes) {
  TILEJIT_RETURN_IF_ERROR(copyBytes(to, from, bytes));
  if (bytes > 0)
    simulator_->markWritten(to, bytes);
  return Status::ok();
}

Expected<std::shared_ptr<LoadedModule>> SimDevice::load(const abi::Manifest &manifest,
                                                        std::span<const PayloadView> payloads) {
  const PayloadView *payload = findPayload(payloads, abi::PayloadKind::Bitcode);
  if (!payload)
    return Status(StatusCode::DoesNotFit, "the kernel has no LLVM bitcode, which is what the simulator runs")
        .withHint("compile it with --with-bitcode");
  TILEJIT_ASSIGN_OR_RETURN(gpu::GpuProgram program, gpu::GpuProgram::make(manifest.gpu));
  auto module = simulator_->load(payload->bytes, manifest.op.empty() ? "kernel" : manifest.op);
  if (!module)
    return Status(StatusCode::DeviceFailed,
                  "the simulator of " + properties_.target.cpu + " refuses the kernel: " + module.status().message());
  for (const abi::GpuKernel &kernel : program.kernels()) {
    auto known = (*module)->kernels();
    if (std::none_of(known.begin(), known.end(), [&](const auto &info) { return info.name == kernel.symbol; }))
      return Status(StatusCode::DeviceFailed, "the bitcode has no kernel '" + kernel.symbol + "'");
  }
  auto bytes = static_cast<int64_t>(payload->bytes.size());
  return std::shared_ptr<LoadedModule>(std::make_shared<SimModule>(*std::move(module), std::move(program), bytes));
}

Expected<int64_t> SimDevice::workspaceBytes(const LoadedModule &module, const LaunchArguments &arguments) {
  return static_cast<const SimModule &>(module).program.workspaceBytes(arguments.slots, arguments.grid);
}

sim::Options SimDevice::optionsOf(const LaunchArguments &arguments) const {
  sim::Options options = arguments.simulation ? *arguments.simulation : sim::Options{};
  if (options.threads == 0)
    options.threads = static_cast<int>(arguments.threads > 0 ? arguments.threads : threads_);
  return options;
}

struct SimDevice::Run {
  const SimModule &module;
  const sim::Options options;
  const int64_t mostInstances; ///< Of a kernel.
  gpu::GpuParameters parameters;
  void *workspace = nullptr;
  const int64_t *status = nullptr; ///< The word for assertions, where a kernel has some.
  int64_t *printer = nullptr;      ///< The buffer for what is printed, where a kernel prints.
  std::shared_ptr<sim::Outcome> result = std::make_shared<sim::Outcome>();

  int64_t failedAssertion() const { return status ? *status - 1 : -1; }
};

void clearPrinter(int64_t *printer) {
  std::memset(printer, 0, abi::printBufferBytes);
  gpu::PrintHeader header = gpu::printHeader(abi::printBufferBytes);
  std::copy(header.begin(), header.end(), printer);
}

void print(const std::vector<abi::GpuPrint> &prints, const int64_t *printer) {
  gpu::PrintHeader header;
  std::copy_n(printer, header.size(), header.begin());
  auto words = static_cast<size_t>(gpu::printedWords(header, abi::printBufferBytes));
  writeToStandardError(gpu::printedText(prints, {printer, words}));
}

/// All parts of one kernel's grid.
Status SimDevice::runKernel(Run &run, const gpu::PlannedKernel &planned) {
  const abi::GpuKernel &kernel = run.module.program.kernels()[planned.kernel];
  run.parameters.fill(kernel, planned, {run.workspace, run.status, run.printer});
  Status status;
  gpu::forEachPart(std::min(planned.instances, run.mostInstances), mostBlocks, [&](int64_t first, int64_t blocks) {
    run.parameters.setFirst(first);
    sim::LaunchRequest request;
    request.kernel = kernel.symbol;
    request.grid[0] = static_cast<uint32_t>(blocks);
    request.block[0] = static_cast<uint32_t>(kernel.threads);
    request.dynamicSharedBytes = static_cast<uint32_t>(kernel.sharedBytes);
    for (int64_t word : run.parameters.words()) {
      const auto *bytes = reinterpret_cast<const uint8_t *>(&word);
      request.arguments.emplace_back(bytes, bytes + sizeof word);
    }
    if (kernel.takesPrinter)
      clearPrinter(run.printer);
    auto one = simulator_->launch(*run.module.module, request, run.options);
    if (one)
      append(*run.result, *std::move(one));
    else
      status = Status(StatusCode::DeviceFailed, one.status().message());
    if (one && kernel.takesPrinter)
      print(run.module.program.prints(), run.printer);
    return status.isOk();
  });
  return status;
}

Status SimDevice::launch(const LoadedModule &loaded, const LaunchArguments &arguments, LaunchOutcome &outcome) {
  const auto &module = static_cast<const SimModule &>(loaded);
  gpu::GpuPlan plan;
  TILEJIT_RETURN_IF_ERROR(module.program.plan(arguments.slots, arguments.grid, plan));
  outcome.path = plan.path;
  Numbers<128> room(arguments.slots.size() + gpu::GpuParameters::mostExtra);
  // Kernels that follow read what those before them wrote, all of it.
  bool isCut = arguments.simulatedBlocks > 0 && plan.planned().size() == 1;
  Run run{module, optionsOf(arguments), isCut ? arguments.simulatedBlocks : std::numeric_limits<int64_t>::max(),
          gpu::GpuParameters(arguments.slots, room.data())};
  std::lock_guard lock(launching_);
  void *scratch = nullptr;
  if (plan.workspaceBytes > 0 && (!arguments.workspace || arguments.workspaceBytes < plan.workspaceBytes)) {
    TILEJIT_ASSIGN_OR_RETURN(scratch, allocate(plan.workspaceBytes, "workspace"));
  }
  Temporary ownWorkspace(*simulator_, scratch);
  run.workspace = scratch ? scratch : arguments.workspace;
  void *word = nullptr;
  if (plan.usesStatus) {
    TILEJIT_ASSIGN_OR_RETURN(word, simulator_->allocate(sizeof(int64_t), "assertions", true));
    std::memset(word, 0, sizeof(int64_t));
  }
  Temporary statusWord(*simulator_, word);
  run.status = static_cast<const int64_t *>(word);
  void *buffer = nullptr;
  if (plan.usesPrinter) {
    TILEJIT_ASSIGN_OR_RETURN(buffer, simulator_->allocate(abi::printBufferBytes, "what the kernel prints", true));
  }
  Temporary printBuffer(*simulator_, buffer);
  run.printer = static_cast<int64_t *>(buffer);
  for (const gpu::PlannedKernel &planned : plan.planned()) {
    TILEJIT_RETURN_IF_ERROR(runKernel(run, planned));
    outcome.tasks += planned.instances;
    if (run.failedAssertion() >= 0 || wasGivenUp(*run.result))
      break;
  }
  outcome.failedAssertion = run.failedAssertion();
  outcome.simulated = std::move(run.result);
  return Status::ok();
}

} // namespace
} // namespace simdevice

Expected<std::vector<std::string>> simulatedChips(const std::string &home) {
  TILEJIT_ASSIGN_OR_RETURN(const sim::Plugin *plugin, sim::openSimulator(home));
  std::vector<std::string> names;
  for (const sim::ChipInfo &chip : plugin->chips())
    names.push_back(chip.name);
  return names;
}

Expected<std::unique_ptr<Device>> makeSimDevice(const SimDeviceOptions &options, int index) {
  TILEJIT_ASSIGN_OR_RETURN(const sim::Plugin *plugin, sim::openSimulator(options.home));
  std::span<const sim::ChipInfo> chips = plugin->chips();
  if (index < 0 || static_cast<size_t>(index) >= chips.size())
    return Status(StatusCode::Unavailable, "there is no device sim " + std::to_string(index) + "; there are " +
                                               std::to_string(chips.size()) + ", counted from 0");
  const sim::ChipInfo &chip = chips[static_cast<size_t>(index)];
  DeviceProperties properties;
  properties.kind = DeviceKind::Sim;
  properties.index = index;
  properties.name = "simulated " + chip.description;
  TILEJIT_ASSIGN_OR_RETURN(properties.target, parseTarget("sim:" + chip.name));
  TILEJIT_ASSIGN_OR_RETURN(std::unique_ptr<sim::Simulator> simulator, plugin->create(chip.name));
  return std::unique_ptr<Device>(
      std::make_unique<simdevice::SimDevice>(std::move(simulator), std::move(properties), options.threads));
}

} // namespace tilejit
