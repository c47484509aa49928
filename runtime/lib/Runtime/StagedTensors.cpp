// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Staging. A device that the host can see is given element runs only, so that what lies between them stays memory that
// nobody wrote; one behind a bus gets the whole span in one transfer.

#include "tilejit/Runtime/StagedTensors.h"

#include <algorithm>
#include <utility>

namespace tilejit {

namespace {

constexpr int64_t alignment = 64;

int64_t elementBytes(const DLTensor &tensor) {
  return std::max<int64_t>(1, tensor.dtype.bits * tensor.dtype.lanes / 8);
}

/// Elements from one to the next along an axis.
int64_t strideOf(const DLTensor &tensor, int32_t axis) {
  if (tensor.strides)
    return tensor.strides[axis];
  int64_t stride = 1;
  for (int32_t i = axis + 1; i < tensor.ndim; ++i)
    stride *= tensor.shape[i];
  return stride;
}

bool isEmpty(const DLTensor &tensor) {
  return std::any_of(tensor.shape, tensor.shape + tensor.ndim, [](int64_t size) { return size == 0; });
}

/// What the operand is called in messages: by the user where there is a description.
std::string nameOf(const Kernel &kernel, size_t operand) {
  if (const Description *description = kernel.source().description.get()) {
    size_t inputs = description->inputs.size();
    if (operand < inputs)
      return description->inputs[operand].name;
    if (operand - inputs < description->outputs.size())
      return description->outputs[operand - inputs].name;
  }
  return kernel.manifest().operands[operand].name;
}

} // namespace

StagedTensors::~StagedTensors() {
  for (const auto &copy : copies_)
    if (copy && copy->memory)
      device_->release(copy->memory);
}

/// Calls copyRun(byte offset from element 0, bytes) for each contiguous run of elements, a negative stride's in the
/// order of memory too.
template <typename CopyRun> Status StagedTensors::forEachRun(const Copy &copy, CopyRun copyRun) {
  const DLTensor &tensor = *copy.host;
  int64_t bytes = elementBytes(tensor), run = bytes;
  int32_t axes = tensor.ndim;
  while (axes > 0 && (tensor.shape[axes - 1] == 1 || strideOf(tensor, axes - 1) * bytes == run)) {
    run *= tensor.shape[axes - 1];
    --axes;
  }
  std::vector<int64_t> index(static_cast<size_t>(axes), 0);
  while (true) {
    int64_t offset = 0;
    for (int32_t axis = 0; axis < axes; ++axis)
      offset += index[static_cast<size_t>(axis)] * strideOf(tensor, axis) * bytes;
    TILEJIT_RETURN_IF_ERROR(copyRun(offset, run));
    int32_t axis = axes - 1;
    for (; axis >= 0 && ++index[static_cast<size_t>(axis)] == tensor.shape[axis]; --axis)
      index[static_cast<size_t>(axis)] = 0;
    if (axis < 0)
      return Status::ok();
  }
}

Status StagedTensors::add(const DLTensor &host, const std::string &name, bool isOutput) {
  auto copy = std::make_unique<Copy>();
  copy->host = &host;
  copy->isOutput = isOutput;
  int64_t bytes = elementBytes(host), last = 0;
  for (int32_t axis = 0; axis < host.ndim && !isEmpty(host); ++axis) {
    int64_t reach = (host.shape[axis] - 1) * strideOf(host, axis) * bytes;
    (reach < 0 ? copy->firstOffset : last) += reach;
  }
  copy->spanBytes = isEmpty(host) ? 0 : last + bytes - copy->firstOffset;
  char *element = static_cast<char *>(host.data) + host.byte_offset;
  auto shift = static_cast<int64_t>(reinterpret_cast<uintptr_t>(element + copy->firstOffset) % alignment);
  TILEJIT_ASSIGN_OR_RETURN(copy->memory, device_->allocate(copy->spanBytes + (copy->spanBytes ? shift : 0), name));
  char *lowest = static_cast<char *>(copy->memory) + (copy->spanBytes ? shift : 0);
  copy->onDevice = host;
  copy->onDevice.data = lowest - copy->firstOffset;
  copy->onDevice.byte_offset = 0;
  const Copy &made = *copy;
  copies_.push_back(std::move(copy));
  if (made.spanBytes == 0)
    return Status::ok();
  if (!device_->isHostMemory())
    return device_->copyToDevice(lowest, element + made.firstOffset, made.spanBytes);
  if (isOutput)
    return Status::ok();
  return forEachRun(made, [&](int64_t offset, int64_t run) {
    return device_->copyToDevice(static_cast<char *>(made.onDevice.data) + offset, element + offset, run);
  });
}

Expected<StagedTensors> StagedTensors::make(const Kernel &kernel, std::span<const DLTensor *const> host) {
  StagedTensors staged(kernel);
  DLDevice place = dlpackDevice(kernel.device());
  const std::vector<abi::OperandInfo> &operands = kernel.manifest().operands;
  if (host.size() != operands.size())
    return Status(StatusCode::InvalidArgument, "the launch has " + std::to_string(host.size()) + " tensors, expected " +
                                                   std::to_string(operands.size()));
  for (size_t i = 0; i < host.size(); ++i) {
    bool isScalar = operands[i].rank == -2;
    if (place.device_type == kDLCPU || isScalar) {
      staged.pointers_.push_back(host[i]);
      continue;
    }
    TILEJIT_RETURN_IF_ERROR(staged.add(*host[i], nameOf(kernel, i), operands[i].isOutput));
    staged.copies_.back()->onDevice.device = place;
    staged.pointers_.push_back(&staged.copies_.back()->onDevice);
  }
  return staged;
}

Status StagedTensors::copyOut() const {
  for (const auto &copy : copies_) {
    if (!copy->isOutput || copy->spanBytes == 0)
      continue;
    char *host = static_cast<char *>(copy->host->data) + copy->host->byte_offset;
    const char *device = static_cast<const char *>(copy->onDevice.data);
    if (device_->isHostMemory())
      TILEJIT_RETURN_IF_ERROR(forEachRun(*copy, [&](int64_t offset, int64_t run) {
        return device_->copyToHost(host + offset, device + offset, run);
      }));
    else
      TILEJIT_RETURN_IF_ERROR(
          device_->copyToHost(host + copy->firstOffset, device + copy->firstOffset, copy->spanBytes));
  }
  return Status::ok();
}

} // namespace tilejit
