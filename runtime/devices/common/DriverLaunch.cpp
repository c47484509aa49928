// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Modules and launches over a driver. A launch neither allocates nor waits, with two exceptions: a workspace that
// neither the caller gives nor the device keeps already, and kernels that assert or print, whose outcome is read.

#include "devices/common/DriverCall.h"
#include "devices/common/DriverDevice.h"
#include "devices/common/PrintBuffer.h"
#include "devices/common/Printer.h"
#include "tilejit/Base/Numbers.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tilejit::gpu {

namespace {

/// What a kernel may use without asking for more.
constexpr int64_t plainShared = 48 << 10;

} // namespace

class DriverDevice::Module : public LoadedModule {
public:
  Module(DriverDevice &device, GpuProgram program, int64_t bytes)
      : program(std::move(program)), device_(device), bytes_(bytes) {}
  ~Module() override {
    device_.release(status);
    device_.release(printer);
    if (module)
      (void)device_.inside("unloading a module", [&] { return device_.driver_->unloadModule(module); });
  }
  int64_t bytes() const override { return bytes_; }

  const GpuProgram program;
  DriverModule module = nullptr;
  std::vector<DriverFunction> functions; ///< One for each kernel of the program.
  void *status = nullptr;                ///< The word for assertions, where a kernel has some.
  void *printer = nullptr;               ///< The buffer for what is printed, where a kernel prints.
  mutable std::mutex outcomeMutex;       ///< One launch at a time uses the two.

private:
  DriverDevice &device_;
  const int64_t bytes_;
};

Status DriverDevice::findFunctions(Module &module) {
  bool usesStatus = false, usesPrinter = false;
  for (const abi::GpuKernel &kernel : module.program.kernels()) {
    DriverFunction function = nullptr;
    std::string what = "looking for the kernel '" + kernel.symbol + "'";
    TILEJIT_RETURN_IF_ERROR(
        inside(what.c_str(), [&] { return driver_->findFunction(function, module.module, kernel.symbol.c_str()); }));
    if (kernel.sharedBytes > plainShared)
      TILEJIT_RETURN_IF_ERROR(inside("asking for on-chip memory", [&] {
        return driver_->allowShared(function, static_cast<int>(kernel.sharedBytes));
      }));
    module.functions.push_back(function);
    usesStatus |= kernel.takesStatus;
    usesPrinter |= kernel.takesPrinter;
  }
  if (usesStatus) {
    TILEJIT_ASSIGN_OR_RETURN(module.status, allocate(sizeof(int64_t), "the word for assertions"));
  }
  if (usesPrinter) {
    TILEJIT_ASSIGN_OR_RETURN(module.printer, allocate(abi::printBufferBytes, "what the kernel prints"));
  }
  return Status::ok();
}

Expected<std::unique_ptr<DriverDevice::Module>> DriverDevice::loadPayload(const PayloadView &payload,
                                                                          GpuProgram program) {
  auto module = std::make_unique<Module>(*this, std::move(program), static_cast<int64_t>(payload.bytes.size()));
  std::string log;
  Status loaded = inside("loading the kernel", [&] { return driver_->loadModule(module->module, payload.bytes, log); });
  if (!loaded.isOk()) {
    module->module = nullptr;
    return log.empty() ? loaded : std::move(loaded).withDetail(log);
  }
  TILEJIT_RETURN_IF_ERROR(findFunctions(*module));
  return module;
}

Expected<std::shared_ptr<LoadedModule>> DriverDevice::load(const abi::Manifest &manifest,
                                                           std::span<const PayloadView> payloads) {
  TILEJIT_RETURN_IF_ERROR(usable());
  std::string wanted, here = properties_.target.name;
  Status last(StatusCode::DoesNotFit, "");
  for (abi::PayloadKind kind : driver_->payloadKinds()) {
    wanted += (wanted.empty() ? "" : " or ") + std::string(abi::payloadKindName(kind));
    const PayloadView *payload = findPayload(payloads, kind);
    if (!payload)
      continue;
    TILEJIT_ASSIGN_OR_RETURN(GpuProgram program, GpuProgram::make(manifest.gpu));
    auto loaded = loadPayload(*payload, std::move(program));
    if (loaded)
      return std::shared_ptr<LoadedModule>(*std::move(loaded));
    last = loaded.status();
    if (last.code() != StatusCode::DoesNotFit)
      return last;
    last = Status(StatusCode::DoesNotFit, "the kernel is for " + targetNameOf(manifest.target) + ", the device " +
                                              properties_.name + " is a " + here + ": " + last.message())
               .withHint("compile for " + here);
  }
  if (!last.message().empty())
    return last;
  return Status(StatusCode::DoesNotFit, "the kernel has no code for " + properties_.name + ", expected " + wanted)
      .withHint("compile for " + here);
}

Expected<int64_t> DriverDevice::workspaceBytes(const LoadedModule &module, const LaunchArguments &arguments) {
  return static_cast<const Module &>(module).program.workspaceBytes(arguments.slots, arguments.grid);
}

/// The device's own workspace of a stream. Work of one stream comes one after the other, so that one is enough.
Expected<void *> DriverDevice::scratchFor(Stream stream, int64_t bytes) {
  Scratch &scratch = scratch_[stream];
  if (scratch.bytes >= bytes)
    return scratch.memory;
  if (isCapturing(stream)) {
    if (!scratch.memory)
      scratch_.erase(stream);
    return Status(StatusCode::Unavailable, "the launch needs a workspace of " + std::to_string(bytes) +
                                               " bytes, which can't be allocated while the stream is captured")
        .withHint("give a workspace of that size, or launch once before the capture");
  }
  void *old = std::exchange(scratch.memory, nullptr);
  scratch.bytes = 0;
  if (old)
    TILEJIT_RETURN_IF_ERROR(synchronizeStream(stream));
  release(old);
  scratch_.erase(stream);
  TILEJIT_ASSIGN_OR_RETURN(void *memory, allocate(bytes, "the workspace"));
  scratch_[stream] = {memory, bytes};
  return memory;
}

Status DriverDevice::launchAll(const Module &module, const GpuPlan &plan, const LaunchArguments &arguments,
                               void *workspace) {
  Numbers<128> room(arguments.slots.size() + GpuParameters::mostExtra);
  GpuParameters parameters(arguments.slots, room.data());
  Status printing;
  Status launched = inside("launching the kernel", [&] {
    int code = 0;
    for (const PlannedKernel &planned : plan.planned()) {
      const abi::GpuKernel &kernel = module.program.kernels()[planned.kernel];
      parameters.fill(kernel, planned, {workspace, module.status, module.printer});
      DriverLaunch launch;
      launch.function = module.functions[planned.kernel];
      launch.threads = static_cast<uint32_t>(kernel.threads);
      launch.sharedBytes = static_cast<uint32_t>(kernel.sharedBytes);
      launch.stream = arguments.stream;
      launch.parameters = parameters.data();
      launch.parameterBytes = parameters.bytes();
      auto launchPart = [&](int64_t first, int64_t blocks) {
        parameters.setFirst(first);
        launch.blocks = static_cast<uint32_t>(blocks);
        if (kernel.takesPrinter && !(printing = clearPrinter(module, arguments.stream)).isOk())
          return false;
        code = driver_->launch(launch);
        if (kernel.takesPrinter && code == 0)
          printing = print(module, arguments.stream);
        return code == 0 && printing.isOk();
      };
      if (!forEachPart(planned.instances, driver_->mostBlocks(kernel.threads), launchPart))
        break;
    }
    return code;
  });
  return launched.isOk() ? printing : launched;
}

/// Makes the buffer for what is printed ready for a part of a launch.
Status DriverDevice::clearPrinter(const Module &module, Stream stream) {
  static const PrintHeader header = printHeader(abi::printBufferBytes); // A copy in a stream may read it later.
  TILEJIT_RETURN_IF_ERROR(inside("clearing what the kernel prints",
                                 [&] { return driver_->clear(module.printer, abi::printBufferBytes, stream); }));
  return copyToDeviceAsync(module.printer, header.data(), sizeof header, stream);
}

/// Waits for a part of a launch, and prints what it said.
Status DriverDevice::print(const Module &module, Stream stream) {
  PrintHeader header{};
  TILEJIT_RETURN_IF_ERROR(copyToHostAsync(header.data(), module.printer, sizeof header, stream));
  TILEJIT_RETURN_IF_ERROR(synchronizeStream(stream));
  if (header[abi::PrintAsked] == 0)
    return Status::ok();
  std::vector<int64_t> words(static_cast<size_t>(printedWords(header, abi::printBufferBytes)));
  TILEJIT_RETURN_IF_ERROR(
      copyToHostAsync(words.data(), module.printer, static_cast<int64_t>(8 * words.size()), stream));
  TILEJIT_RETURN_IF_ERROR(synchronizeStream(stream));
  writeToStandardError(printedText(module.program.prints(), words));
  return Status::ok();
}

/// A launch of kernels with assertions: waits, and reads what they left.
Status DriverDevice::launchAndLook(const Module &module, const GpuPlan &plan, const LaunchArguments &arguments,
                                   void *workspace, int64_t &failedAssertion) {
  TILEJIT_RETURN_IF_ERROR(inside("clearing the word for assertions",
                                 [&] { return driver_->clear(module.status, sizeof(int64_t), arguments.stream); }));
  TILEJIT_RETURN_IF_ERROR(launchAll(module, plan, arguments, workspace));
  int64_t word = 0;
  TILEJIT_RETURN_IF_ERROR(copyToHostAsync(&word, module.status, sizeof word, arguments.stream));
  TILEJIT_RETURN_IF_ERROR(synchronizeStream(arguments.stream));
  failedAssertion = word - 1;
  return Status::ok();
}

Status DriverDevice::launch(const LoadedModule &loaded, const LaunchArguments &arguments, LaunchOutcome &outcome) {
  const auto &module = static_cast<const Module &>(loaded);
  TILEJIT_RETURN_IF_ERROR(usable());
  GpuPlan plan;
  TILEJIT_RETURN_IF_ERROR(module.program.plan(arguments.slots, arguments.grid, plan));
  outcome.path = plan.path;
  if (plan.usesPrinter && isCapturing(arguments.stream))
    return Status(StatusCode::Unavailable,
                  "the kernel prints (tile.print), for which its launch waits, and a stream that is captured can't be "
                  "waited for")
        .withHint("launch it outside of the capture, or take tile.print out");
  for (const PlannedKernel &planned : plan.planned())
    outcome.tasks += planned.instances;
  if (plan.count == 0)
    return Status::ok();
  void *workspace = arguments.workspace;
  std::unique_lock<std::recursive_mutex> lock;
  if (plan.workspaceBytes > 0 && (!workspace || arguments.workspaceBytes < plan.workspaceBytes)) {
    lock = std::unique_lock(scratchMutex_);
    TILEJIT_ASSIGN_OR_RETURN(workspace, scratchFor(arguments.stream, plan.workspaceBytes));
  }
  std::unique_lock<std::mutex> outcomeLock;
  if (plan.usesStatus || plan.usesPrinter)
    outcomeLock = std::unique_lock(module.outcomeMutex);
  if (plan.usesStatus && !isCapturing(arguments.stream))
    return launchAndLook(module, plan, arguments, workspace, outcome.failedAssertion);
  return launchAll(module, plan, arguments, workspace);
}

Expected<KernelOccupancy> DriverDevice::occupancy(const LoadedModule &loaded) {
  const auto &module = static_cast<const Module &>(loaded);
  KernelOccupancy least;
  for (size_t i = 0; i < module.functions.size(); ++i) {
    const abi::GpuKernel &kernel = module.program.kernels()[i];
    FunctionFacts facts;
    int blocks = 0;
    TILEJIT_RETURN_IF_ERROR(inside("asking for occupancy", [&] {
      int code = driver_->functionFacts(module.functions[i], facts);
      return code != 0 ? code
                       : driver_->blocksPerUnit(blocks, module.functions[i], static_cast<int>(kernel.threads),
                                                static_cast<size_t>(kernel.sharedBytes));
    }));
    double share = facts_.unitThreads > 0
                       ? static_cast<double>(blocks) * static_cast<double>(kernel.threads) / facts_.unitThreads
                       : 0;
    if (i == 0 || share < least.ofUnitThreads) {
      least.ofUnitThreads = share;
      least.blocksPerUnit = blocks;
    }
    least.registers = std::max<int64_t>(least.registers, facts.registers);
    least.stackBytes = std::max<int64_t>(least.stackBytes, facts.stackBytes);
    least.sharedBytes = std::max<int64_t>(least.sharedBytes, facts.staticSharedBytes + kernel.sharedBytes);
  }
  return least;
}

} // namespace tilejit::gpu
