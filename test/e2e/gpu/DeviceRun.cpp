// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A package on a device: buffers, one launch, copies.

#include "DeviceRun.h"

#include "tilejit/Runtime/Kernel.h"

#include <algorithm>
#include <deque>

namespace tilejit::e2e {
namespace {

using BufferHandle = std::unique_ptr<tilejit_buffer_s, decltype(&tilejit_buffer_release)>;
using KernelHandle = std::unique_ptr<tilejit_kernel_s, decltype(&tilejit_kernel_release)>;

/// The status of a handle, which is released.
Status take(tilejit_status_t handle) {
  if (!handle)
    return Status::ok();
  Status status(static_cast<StatusCode>(tilejit_status_code(handle)), tilejit_status_message(handle));
  status = std::move(status).withHint(tilejit_status_hint(handle));
  for (size_t i = 0; tilejit_status_detail(handle, i); ++i)
    status = std::move(status).withDetail(tilejit_status_detail(handle, i));
  tilejit_status_release(handle);
  return status;
}

/// Host tensors' copies on a device, as launch arguments.
class Arguments {
public:
  Arguments(tilejit_context_t context, DLDevice place) : context_(context), place_(place) {}

  Status add(const HostTensor &tensor) {
    tilejit_buffer_t made = nullptr;
    TILEJIT_RETURN_IF_ERROR(take(tilejit_buffer_create(context_, place_, tensor.sizeInBytes(), &made)));
    buffers_.emplace_back(made, tilejit_buffer_release);
    TILEJIT_RETURN_IF_ERROR(take(tilejit_buffer_write(made, 0, tensor.data(), tensor.sizeInBytes())));
    shapes_.push_back(tensor.shape());
    DLTensor view{};
    view.data = tilejit_buffer_data(made);
    view.device = place_;
    view.ndim = tensor.rank();
    view.dtype = toDlpackType(tensor.dtype());
    view.shape = shapes_.back().data();
    views_.push_back(view);
    return Status::ok();
  }

  Status read(size_t index, HostTensor &tensor) const {
    return take(tilejit_buffer_read(buffers_[index].get(), 0, tensor.data(), tensor.sizeInBytes()));
  }

  std::vector<const DLTensor *> pointers() const {
    std::vector<const DLTensor *> result;
    for (const DLTensor &view : views_)
      result.push_back(&view);
    return result;
  }

private:
  tilejit_context_t context_;
  DLDevice place_;
  std::vector<BufferHandle> buffers_;
  std::deque<std::vector<int64_t>> shapes_;
  std::deque<DLTensor> views_;
};

} // namespace

const std::vector<DeviceKindName> &deviceKinds() {
  static const std::vector<DeviceKindName> kinds = {
      {"cpu", kDLCPU}, {"cuda", kDLCUDA}, {"hip", kDLROCM}, {"sim", kDLExtDev}};
  return kinds;
}

std::string RunDevice::title() const { return kind + " " + std::to_string(place.device_id) + " (" + target + ")"; }

Expected<Session> Session::open() {
  tilejit_context_options_t options{};
  options.struct_size = sizeof options;
  tilejit_context_t context = nullptr;
  TILEJIT_RETURN_IF_ERROR(take(tilejit_context_create(&options, &context)));
  return Session(context);
}

Expected<std::vector<RunDevice>> Session::devices(const DeviceKindName &kind) const {
  int32_t count = 0;
  TILEJIT_RETURN_IF_ERROR(take(tilejit_device_count(context_.get(), kind.type, &count)));
  std::vector<RunDevice> devices;
  // Asked for where there is none, the first one says why.
  for (int32_t i = 0; i < std::max(count, 1); ++i) {
    tilejit_device_info_t info{};
    info.struct_size = sizeof info;
    TILEJIT_RETURN_IF_ERROR(take(tilejit_device_query(context_.get(), {kind.type, i}, &info)));
    devices.push_back({{kind.type, i}, std::string(kind.name), info.name, info.target});
  }
  return devices;
}

Expected<std::vector<HostTensor>> Session::run(const std::string &package, const Case &data,
                                               const RunDevice &device) const {
  tilejit_prepare_options_t options{};
  options.struct_size = sizeof options;
  options.flags = TILEJIT_PREPARE_NO_COMPILE | TILEJIT_PREPARE_NO_CACHE;
  options.target = device.target.c_str();
  if (device.place.device_type != kDLExtDev) { // A simulated chip is what its target says.
    options.flags |= TILEJIT_PREPARE_DEVICE;
    options.device = device.place.device_id;
  }
  tilejit_kernel_t prepared = nullptr;
  TILEJIT_RETURN_IF_ERROR(
      take(tilejit_kernel_prepare(context_.get(), package.data(), package.size(), &options, &prepared)));
  KernelHandle kernel(prepared, tilejit_kernel_release);
  Arguments arguments(context_.get(), device.place);
  for (const CaseInput &input : data.inputs) {
    TILEJIT_RETURN_IF_ERROR(arguments.add(input.tensor));
  }
  std::vector<HostTensor> outputs;
  for (const ReferenceTensor &output : data.outputs) {
    TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::allocate(output.dtype, output.shape));
    tensor.fillBytes(0xff);
    TILEJIT_RETURN_IF_ERROR(arguments.add(tensor));
    outputs.push_back(std::move(tensor));
  }
  std::vector<const DLTensor *> tensors = arguments.pointers();
  TILEJIT_RETURN_IF_ERROR(take(tilejit_kernel_launch(kernel.get(), tensors.data(), tensors.size(), nullptr)));
  for (size_t i = 0; i < outputs.size(); ++i) {
    TILEJIT_RETURN_IF_ERROR(arguments.read(data.inputs.size() + i, outputs[i]));
  }
  return outputs;
}

} // namespace tilejit::e2e
