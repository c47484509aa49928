// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What runs where the compile failed and the caller prefers slow results to none: the family's reference, over the same
// checked tensors. Said once in the log, counted at every launch.

#include "ContextImpl.h"
#include "LaunchRules.h"

#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Base/DType.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/Reference/Reference.h"
#include "tilejit/Runtime/Kernel.h"

#include <cstring>
#include <utility>
#include <vector>

namespace tilejit {

namespace {

/// Calls copy(place in the strided memory, place in the dense one), both in elements, for each element.
template <typename Copy>
void forEachElement(const std::vector<int64_t> &shape, const int64_t *strides, int64_t elements, Copy copy) {
  std::vector<int64_t> index(shape.size());
  int64_t strided = 0;
  for (int64_t dense = 0; dense < elements; ++dense) {
    copy(strided, dense);
    for (size_t i = shape.size(); i-- > 0;) {
      strided += strides[i];
      if (++index[i] < shape[i])
        break;
      strided -= strides[i] * shape[i];
      index[i] = 0;
    }
  }
}

class ReferenceKernel final : public Kernel {
public:
  ReferenceKernel(std::shared_ptr<ContextImpl> context, Device &device, Source source, CompiledKernel compiled,
                  LaunchRules rules)
      : context_(std::move(context)), device_(device), source_(std::move(source)), compiled_(std::move(compiled)),
        rules_(std::move(rules)) {}

  const CompiledKernel &compiled() const override { return compiled_; }
  const CompileReport &report() const override { return compiled_.report; }
  const Source &source() const override { return source_; }
  Device &device() const override { return device_; }
  size_t operandCount() const override { return rules_.operands.size(); }
  Expected<int64_t> workspaceBytes(std::span<const DLTensor *const>, const LaunchOptions &) override { return 0; }
  Expected<int64_t> packedBytes(size_t) override { return 0; }
  Status pack(size_t, const DLTensor &, const DLTensor &) override {
    return Status(StatusCode::InvalidArgument, "the reference implementation takes operands as they are");
  }

  Status launch(std::span<const DLTensor *const> tensors, const LaunchOptions &, LaunchInfo *info) override {
    Status status = run(tensors);
    Counters &count = context_->count();
    ++count.launches;
    ++count.referenceRuns;
    if (!status.isOk())
      ++count.launchFailures;
    else if (info)
      *info = {"reference", 1, 1, nullptr};
    return status;
  }

private:
  Status run(std::span<const DLTensor *const> tensors) const {
    const Description &description = *source_.description;
    std::vector<int64_t> slots(rules_.slotCount), sizes(rules_.dims.size());
    PackedMemory packed = nullptr;
    TILEJIT_RETURN_IF_ERROR(bindTensors(rules_, {kDLCPU, 0}, tensors, slots.data(), sizes.data(), packed));
    std::vector<HostTensor> inputs, outputs;
    const int64_t *slot = slots.data();
    for (const Operand &operand : description.inputs) {
      TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor, gather(operand, slot));
      inputs.push_back(std::move(tensor));
      slot += 1 + 2 * operand.rank();
    }
    TILEJIT_RETURN_IF_ERROR(referenceRun(description, Binding{std::move(sizes)}, inputs, outputs));
    for (size_t i = 0; i < outputs.size() && i < description.outputs.size(); ++i) {
      scatter(outputs[i], slot);
      slot += 1 + 2 * description.outputs[i].rank();
    }
    return Status::ok();
  }

  static Expected<HostTensor> gather(const Operand &operand, const int64_t *slot) {
    auto rank = static_cast<size_t>(operand.rank());
    std::vector<int64_t> shape(slot + 1, slot + 1 + rank);
    TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::allocate(operand.dtype, shape));
    const char *from = reinterpret_cast<const char *>(slot[0]);
    auto bytes = static_cast<size_t>(storageBytes(operand.dtype));
    forEachElement(shape, slot + 1 + rank, tensor.elements(), [&](int64_t strided, int64_t dense) {
      std::memcpy(tensor.element(dense), from + strided * static_cast<int64_t>(bytes), bytes);
    });
    return tensor;
  }

  static void scatter(const HostTensor &tensor, const int64_t *slot) {
    char *to = reinterpret_cast<char *>(slot[0]);
    auto bytes = static_cast<size_t>(storageBytes(tensor.dtype()));
    forEachElement(tensor.shape(), slot + 1 + tensor.rank(), tensor.elements(), [&](int64_t strided, int64_t dense) {
      std::memcpy(to + strided * static_cast<int64_t>(bytes), tensor.element(dense), bytes);
    });
  }

  const std::shared_ptr<ContextImpl> context_;
  Device &device_;
  const Source source_;
  const CompiledKernel compiled_;
  const LaunchRules rules_;
};

/// Failures that say something about the compile and nothing about the request.
bool mayFallBack(StatusCode code) {
  switch (code) {
  case StatusCode::CompileFailed:
  case StatusCode::DoesNotFit:
  case StatusCode::TimedOut:
  case StatusCode::NotCached:
  case StatusCode::WorkerFailed:
  case StatusCode::DeviceFailed:
    return true;
  default:
    return false;
  }
}

abi::Manifest manifestOf(const Description &description, const TargetSpec &target) {
  abi::Manifest manifest;
  manifest.op = familyName(description.family);
  manifest.target = target.keyText();
  manifest.abiVersion = abi::kernelAbiVersion;
  manifest.paths = {"reference"};
  auto add = [&](const Operand &operand, bool isOutput) {
    manifest.operands.push_back(
        {operand.name, std::string(dtypeName(operand.dtype)), operand.rank(), isOutput, {}, {}, 0});
  };
  for (const Operand &operand : description.inputs)
    add(operand, false);
  for (const Operand &operand : description.outputs)
    add(operand, true);
  return manifest;
}

} // namespace

Expected<std::shared_ptr<Kernel>> ContextImpl::fallBack(const Source &source, const TargetSpec &target,
                                                        Status failure) {
  if (source.isTile() || !mayFallBack(failure.code()))
    return failure;
  if (!warnedOfReference_.exchange(true))
    options_.logger.warn(
        "runtime", "what can't be compiled runs as the slow reference implementation",
        {{"operator", std::string(familyName(source.description->family))}, {"reason", failure.message()}});
  TILEJIT_ASSIGN_OR_RETURN(Device * onto, device(DeviceKind::Cpu, 0));
  CompiledKernel compiled;
  compiled.manifest = manifestOf(*source.description, target);
  compiled.entry.payloads.push_back({"none", target.keyText(), {}});
  compiled.report.cache = CacheUse::Off;
  compiled.report.payloadKind = "none";
  compiled.report.usesReference = true;
  compiled.report.missReason = failure.message();
  TILEJIT_ASSIGN_OR_RETURN(LaunchRules rules, makeLaunchRules(source, compiled.manifest));
  return std::shared_ptr<Kernel>(std::make_shared<ReferenceKernel>(
      std::static_pointer_cast<ContextImpl>(shared_from_this()), *onto, source, std::move(compiled), std::move(rules)));
}

} // namespace tilejit
