// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Launching: check, fill the slots, run, and say what an assertion found.

#include "ContextImpl.h"
#include "LaunchRules.h"

#include "tilejit/Base/Numbers.h"
#include "tilejit/Runtime/Kernel.h"
#include "tilejit/Simulator/Simulator.h"

#include <utility>
#include <vector>

namespace tilejit {

namespace {

class KernelImpl final : public Kernel {
public:
  KernelImpl(std::shared_ptr<ContextImpl> context, std::shared_ptr<LoadedKernel> loaded, CompileReport report,
             Source source, LaunchRules rules)
      : context_(std::move(context)), loaded_(std::move(loaded)), report_(std::move(report)),
        source_(std::move(source)), rules_(std::move(rules)), place_(dlpackDevice(*loaded_->device)) {}

  const CompiledKernel &compiled() const override { return loaded_->compiled; }
  const CompileReport &report() const override { return report_; }
  const Source &source() const override { return source_; }
  Device &device() const override { return *loaded_->device; }
  size_t operandCount() const override { return rules_.operands.size(); }

  Status launch(std::span<const DLTensor *const> tensors, const LaunchOptions &options, LaunchInfo *info) override {
    Status status = run(tensors, options, info);
    context_->count().launches.fetch_add(1, std::memory_order_relaxed);
    if (!status.isOk())
      context_->count().launchFailures.fetch_add(1, std::memory_order_relaxed);
    return status;
  }

  Expected<int64_t> workspaceBytes(std::span<const DLTensor *const> tensors, const LaunchOptions &options) override {
    Numbers<128> slots(rules_.slotCount);
    LaunchArguments arguments;
    TILEJIT_RETURN_IF_ERROR(bind(tensors, options, slots.data(), arguments));
    if (arguments.firstPhase > 0)
      return 0; // What it is for is packed already.
    return loaded_->device->workspaceBytes(*loaded_->module, arguments);
  }

  Expected<int64_t> packedBytes(size_t operand) override {
    if (operand >= rules_.operands.size())
      return Status(StatusCode::InvalidArgument, "there is no operand " + std::to_string(operand) +
                                                     "; the kernel has " + std::to_string(rules_.operands.size()));
    bool packs = rules_.packs && static_cast<size_t>(rules_.packs->operand) == operand;
    return packs ? rules_.packs->bytes : 0;
  }

  Status pack(size_t operand, const DLTensor &tensor, const DLTensor &packed) override {
    TILEJIT_ASSIGN_OR_RETURN(int64_t bytes, packedBytes(operand));
    if (bytes == 0)
      return Status(StatusCode::InvalidArgument, "operand \"" + rules_.operands[operand].name +
                                                     "\" has no packed form: launch with the tensor as it is");
    Numbers<128> slots(rules_.slotCount);
    Numbers<32> sizes(rules_.dims.size());
    LaunchArguments arguments;
    TILEJIT_RETURN_IF_ERROR(
        bindForPacking(rules_, place_, tensor, packed, slots.data(), sizes.data(), arguments.workspace));
    arguments.slots = {slots.data(), rules_.slotCount};
    arguments.workspaceBytes = bytes;
    arguments.endPhase = 1;
    LaunchOutcome outcome;
    return loaded_->device->launch(*loaded_->module, arguments, outcome);
  }

private:
  Status bind(std::span<const DLTensor *const> tensors, const LaunchOptions &options, int64_t *slots,
              LaunchArguments &arguments) const {
    Numbers<32> sizes(rules_.dims.size());
    PackedMemory packed = nullptr;
    TILEJIT_RETURN_IF_ERROR(bindTensors(rules_, place_, tensors, slots, sizes.data(), packed));
    if (!manifest().hasLaunchRule && !options.grid)
      return Status(StatusCode::InvalidArgument, "the kernel has no launch rule: a grid has to be given");
    if (options.grid)
      for (int64_t count : *options.grid)
        if (count < 0)
          return Status(StatusCode::InvalidArgument, "the grid has the negative count " + std::to_string(count));
    if (options.workspace && reinterpret_cast<uintptr_t>(options.workspace) % 64 != 0)
      return Status(StatusCode::InvalidArgument, "the workspace is not aligned to 64 bytes");
    arguments.slots = {slots, rules_.slotCount};
    arguments.grid = options.grid ? options.grid->data() : nullptr;
    arguments.threads = options.threads;
    arguments.workspace = options.workspace;
    arguments.workspaceBytes = options.workspaceBytes;
    if (packed) {
      arguments.workspace = packed;
      arguments.workspaceBytes = rules_.packs->bytes;
      arguments.firstPhase = 1;
    }
    arguments.stream = options.stream;
    arguments.simulation = options.simulation;
    arguments.simulatedBlocks = options.simulatedBlocks;
    return Status::ok();
  }

  Status run(std::span<const DLTensor *const> tensors, const LaunchOptions &options, LaunchInfo *info) const {
    Numbers<128> slots(rules_.slotCount);
    LaunchArguments arguments;
    TILEJIT_RETURN_IF_ERROR(bind(tensors, options, slots.data(), arguments));
    LaunchOutcome outcome;
    TILEJIT_RETURN_IF_ERROR(loaded_->device->launch(*loaded_->module, arguments, outcome));
    if (info) {
      const std::vector<std::string> &paths = manifest().paths;
      bool known = outcome.path >= 0 && static_cast<size_t>(outcome.path) < paths.size();
      info->path = known ? paths[static_cast<size_t>(outcome.path)] : "";
      info->tasks = outcome.tasks;
      info->threads = outcome.threads;
      info->simulated = outcome.simulated;
    }
    if (outcome.failedAssertion < 0)
      return outcome.simulated ? reported(*outcome.simulated) : Status::ok();
    const std::vector<std::string> &assertions = manifest().assertions;
    auto number = static_cast<size_t>(outcome.failedAssertion);
    return Status(StatusCode::CheckFailed,
                  "an assertion of the kernel failed: " +
                      (number < assertions.size() ? assertions[number] : "number " + std::to_string(number)));
  }

  /// The simulator's first report as a status, the others as its details.
  static Status reported(const sim::Outcome &outcome) {
    if (outcome.reports.empty())
      return Status::ok();
    auto text = [](const sim::Report &report) {
      return std::string(sim::reportKindName(report.kind)) + ": " + report.message +
             (report.location.empty() ? "" : " at " + report.location);
    };
    Status status(StatusCode::CheckFailed, "the simulator reports " + text(outcome.reports.front()));
    for (size_t i = 1; i < outcome.reports.size(); ++i)
      status = std::move(status).withDetail(text(outcome.reports[i]));
    return outcome.reports.front().hint.empty() ? status : std::move(status).withHint(outcome.reports.front().hint);
  }

  const std::shared_ptr<ContextImpl> context_;
  const std::shared_ptr<LoadedKernel> loaded_;
  const CompileReport report_;
  const Source source_;
  const LaunchRules rules_;
  const DLDevice place_;
};

} // namespace

Expected<std::shared_ptr<Kernel>> makeKernel(std::shared_ptr<ContextImpl> context, std::shared_ptr<LoadedKernel> loaded,
                                             CompileReport report, Source source) {
  TILEJIT_ASSIGN_OR_RETURN(LaunchRules rules, makeLaunchRules(source, loaded->compiled.manifest));
  return std::shared_ptr<Kernel>(std::make_shared<KernelImpl>(std::move(context), std::move(loaded), std::move(report),
                                                              std::move(source), std::move(rules)));
}

} // namespace tilejit
