// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Preparing and launching one kernel.

#include "Execution.h"
#include "Reports.h"
#include "Sources.h"

#include "tilejit/Description/Cost.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

namespace tilejit::tilec {

void ExecutionOptions::addTo(CLI::App &command) {
  command.add_option("--target", target, "Target or device (default: native, this machine)")->type_name("T");
  command.add_option("--device", device, "Which device of the kind, counted from 0")->type_name("N");
  command.add_option("--set", operands.set, "Size of a symbolic dimension")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false); // What follows its value is a DESC.
  command.add_option("--random-seed", operands.seed, "Seed of the random inputs (0)")->type_name("S");
  command.add_option("--threads", threads, "Threads of a CPU launch (TILEJIT_NUM_THREADS; all)")->type_name("N");
  command.add_option("--config", config, "Schedule options (see tilec ops NAME)")
      ->type_name("K=V[,...]")
      ->allow_extra_args(false);
  simulation.addTo(command);
  command.add_flag("--no-compile", noCompile, "Fail with exit code 3 where the cache has no entry");
  command.add_flag("--reference-fallback", allowReference,
                   "Run the slow reference implementation where the compile fails");
}

void ExecutionOptions::addFilesTo(CLI::App &command) {
  command.add_option("--input", operands.inputs, "Read an input from a NumPy file (or TYPE:VALUE, a tile scalar)")
      ->type_name("NAME=F.npy")
      ->allow_extra_args(false);
  command.add_option("--output", operands.outputs, "Write an output to a NumPy file")
      ->type_name("NAME=F.npy")
      ->allow_extra_args(false);
  command.add_option("--grid", grid, "Program instances of a tile kernel without a launch rule")
      ->type_name("X[,Y[,Z]]");
}

std::vector<SettingOverride> ExecutionOptions::overrides() const {
  std::vector<SettingOverride> overrides;
  if (!threads.empty())
    overrides.push_back({SettingId::NumThreads, threads, "--threads"});
  return overrides;
}

Expected<int> ExecutionOptions::deviceIndex() const {
  if (device.empty())
    return -1;
  TILEJIT_ASSIGN_OR_RETURN(int64_t index, parseInteger(device, "--device", 0, 1 << 20));
  return static_cast<int>(index);
}

Expected<CompileOptions> ExecutionOptions::compileOptions() const {
  CompileOptions options;
  TILEJIT_ASSIGN_OR_RETURN(options.device, deviceIndex());
  TILEJIT_ASSIGN_OR_RETURN(options.config, parseConfig(config));
  options.noCompile = noCompile;
  options.allowReference = allowReference;
  if (isExplained)
    options.emit = abi::EmitKind::Explained;
  return options;
}

std::string deviceName(const Device &device) {
  const DeviceProperties &properties = device.properties();
  return properties.kind == DeviceKind::Sim ? properties.target.name : std::string(deviceKindName(properties.kind));
}

Expected<Execution> Execution::prepare(Context &context, const Source &source, const TargetSpec &target,
                                       const ExecutionOptions &options, int64_t defaultSize) {
  LaunchOptions launchOptions;
  if (!options.grid.empty()) {
    TILEJIT_ASSIGN_OR_RETURN(launchOptions.grid, parseGrid(options.grid));
  }
  TILEJIT_ASSIGN_OR_RETURN(CompileOptions compileOptions, options.compileOptions());
  if (options.simulation.isGiven() && !target.simulated)
    return Status(StatusCode::InvalidArgument,
                  "--no-check and --schedule-seed are for simulated targets such as sim:sm_80, found " + target.name);
  TILEJIT_ASSIGN_OR_RETURN(sim::Options simulation, options.simulation.parse());
  simulation.siteCounters = options.isExplained;
  if (!options.simulatedBlocks.empty()) {
    TILEJIT_ASSIGN_OR_RETURN(launchOptions.simulatedBlocks,
                             parseInteger(options.simulatedBlocks, "--blocks", 0, int64_t{1} << 31));
  }
  TILEJIT_ASSIGN_OR_RETURN([[maybe_unused]] Device * device, context.deviceFor(target, compileOptions.device));
  if (source.isTile()) {
    TILEJIT_ASSIGN_OR_RETURN(std::shared_ptr<Kernel> kernel, context.prepare(source, target, compileOptions));
    TILEJIT_ASSIGN_OR_RETURN(Operands operands, Operands::forTileKernel(kernel->manifest(), options.operands));
    if (!kernel->manifest().hasLaunchRule && !launchOptions.grid)
      return Status(StatusCode::InvalidArgument, "the kernel '" + kernel->manifest().op +
                                                     "' has no launch rule: it needs --grid X[,Y[,Z]], the number of "
                                                     "its program instances");
    Execution execution(source, target, std::move(operands));
    execution.kernel_ = std::move(kernel);
    execution.launchOptions_ = launchOptions;
    execution.simulation_ = simulation;
    return execution;
  }
  if (launchOptions.grid)
    return Status(StatusCode::InvalidArgument, "--grid: a description has a grid of its own");
  TILEJIT_ASSIGN_OR_RETURN(Operands operands,
                           Operands::forDescription(*source.description, options.operands, defaultSize));
  Execution execution(source, target, std::move(operands));
  execution.launchOptions_ = launchOptions;
  execution.simulation_ = simulation;
  TILEJIT_ASSIGN_OR_RETURN(execution.kernel_, context.prepare(source, target, compileOptions));
  return execution;
}

static double millisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

Status Execution::stage() {
  TILEJIT_ASSIGN_OR_RETURN(staged_, StagedTensors::make(*kernel_, operands_.tensors()));
  std::span<const DLTensor *const> staged = staged_->tensors();
  tensors_.assign(staged.begin(), staged.end());
  Device &device = kernel_->device();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    TILEJIT_ASSIGN_OR_RETURN(int64_t bytes, kernel_->packedBytes(i));
    if (bytes == 0)
      continue;
    TILEJIT_ASSIGN_OR_RETURN(void *memory, device.allocate(bytes));
    auto packed = std::make_unique<Packed>();
    packed->name = kernel_->manifest().operands[i].name;
    packed->bytes = bytes;
    packed->memory = std::shared_ptr<void>(memory, [kernel = kernel_](void *m) { kernel->device().release(m); });
    packed->tensor.data = memory;
    packed->tensor.device = dlpackDevice(device);
    packed->tensor.ndim = 1;
    packed->tensor.dtype = toDlpackType(DType::U8);
    packed->tensor.shape = &packed->bytes;
    auto begin = std::chrono::steady_clock::now();
    TILEJIT_RETURN_IF_ERROR(kernel_->pack(i, *tensors_[i], packed->tensor));
    packed->milliseconds = millisecondsSince(begin);
    tensors_[i] = &packed->tensor;
    packed_.push_back(std::move(packed));
  }
  return Status::ok();
}

Expected<double> Execution::launch() {
  if (!staged_)
    TILEJIT_RETURN_IF_ERROR(stage());
  DeviceKind kind = kernel_->device().properties().kind;
  if (kind == DeviceKind::Cuda || kind == DeviceKind::Hip)
    return launchOnGpu();
  lastLaunch_ = {};
  launchOptions_.simulation = &simulation_;
  auto begin = std::chrono::steady_clock::now();
  Status status = kernel_->launch(tensors_, launchOptions_, &lastLaunch_);
  double milliseconds = millisecondsSince(begin);
  if (!status.isOk() && !hasReports())
    return status;
  return milliseconds;
}

/// Between two events: what the host does beside it does not count.
Expected<double> Execution::launchOnGpu() {
  Device &device = kernel_->device();
  auto destroy = [&device](void *event) { device.destroyEvent(event); };
  TILEJIT_ASSIGN_OR_RETURN(Event first, device.createEvent());
  std::unique_ptr<void, decltype(destroy)> firstOwner(first, destroy);
  TILEJIT_ASSIGN_OR_RETURN(Event second, device.createEvent());
  std::unique_ptr<void, decltype(destroy)> secondOwner(second, destroy);
  TILEJIT_RETURN_IF_ERROR(device.record(first, nullptr));
  TILEJIT_RETURN_IF_ERROR(kernel_->launch(tensors_, launchOptions_, &lastLaunch_));
  TILEJIT_RETURN_IF_ERROR(device.record(second, nullptr));
  TILEJIT_RETURN_IF_ERROR(device.synchronizeStream(nullptr));
  return device.millisecondsBetween(first, second);
}

Status Execution::collect() {
  TILEJIT_RETURN_IF_ERROR(staged_->copyOut());
  operands_.collect();
  return Status::ok();
}

void Execution::printOutcome() const {
  if (!outcome())
    return;
  std::fwrite(outcome()->printed.data(), 1, outcome()->printed.size(), stderr);
  std::fputs(simulatedReportsText(*outcome()).c_str(), stdout);
}

double Execution::flops() const { return description() ? tilejit::flops(*description(), operands_.binding()) : 0; }

int64_t Execution::bytesRead() const {
  int64_t bytes = 0;
  for (const HostTensor &tensor : operands_.inputs())
    bytes += static_cast<int64_t>(tensor.sizeInBytes());
  return bytes;
}

int64_t Execution::bytesWritten() const {
  int64_t bytes = 0;
  for (const HostTensor &tensor : operands_.outputs())
    bytes += static_cast<int64_t>(tensor.sizeInBytes());
  return bytes;
}

std::string Execution::title() const {
  if (!description())
    return kernel_->manifest().op;
  std::string text(familyName(description()->family));
  std::string shapes;
  for (const HostTensor &input : operands_.inputs())
    shapes += (shapes.empty() ? " " : " x ") + tensorShapeText(input.shape());
  text += shapes;
  if (!operands_.inputs().empty())
    text += " " + std::string(dtypeName(operands_.inputs().front().dtype()));
  return text;
}

std::string Execution::packedText() const {
  std::string text;
  for (const auto &packed : packed_)
    text +=
        "; " + packed->name + " packed once: " + bytesText(packed->bytes) + " in " + durationText(packed->milliseconds);
  return text;
}

Json Execution::json() const {
  Json json = {{"op", kernel_->manifest().op}, {"name", displayName(source_)}, {"description", displayName(source_)}};
  json["target"] = target_.name;
  json["device"] = deviceName(kernel_->device());
  addReport(json, kernel_->report(), kernel_->manifest());
  if (!lastLaunch_.path.empty())
    json["path"] = lastLaunch_.path;
  json["threads"] = lastLaunch_.threads;
  for (const auto &packed : packed_)
    json["packed"].push_back(
        {{"operand", packed->name}, {"bytes", packed->bytes}, {"time_ms", rounded(packed->milliseconds)}});
  if (const sim::Outcome *simulated = outcome()) {
    json["reports"] = simulatedReportsJson(*simulated);
    json["counters"] = countersJson(simulated->counters);
    json["thread_instructions_per_s"] = rounded(threadInstructionsPerSecond(*simulated));
    json["printed"] = simulated->printed;
  }
  if (description()) {
    json["dims"] = Json::object();
    for (size_t i = 0; i < description()->dims.size(); ++i)
      json["dims"][description()->dims[i].name] = operands_.binding().sizes[i];
  }
  return json;
}

} // namespace tilejit::tilec
