// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Layouts, launches and their judgement.

#include "Launcher.h"

#include "tilejit/Reference/Random.h"
#include "tilejit/Reference/Verify.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

namespace tilejit::sweep {

//===--- Layout -------------------------------------------------------------------------------------------------===//

Layout::Layout(const Operand &operand, std::vector<int64_t> actualShape, bool isOutput, Choice &choose)
    : shape(std::move(actualShape)), strides(denseStrides(shape)) {
  bool isOpen = operand.strides && !choose.oneIn(6);
  if (isOpen) {
    std::vector<size_t> order(shape.size());
    std::iota(order.rbegin(), order.rend(), size_t{0});
    if (choose.oneIn(2))
      choose.shuffle(order);
    bool hasGaps = choose.oneIn(2), isBackwards = choose.oneIn(4), repeats = !isOutput && choose.oneIn(6);
    int64_t next = hasGaps && choose.oneIn(3) ? choose.number(2, 3) : 1;
    for (size_t d : order) {
      strides[d] = next;
      next = next * std::max<int64_t>(1, shape[d]) + (hasGaps ? choose.number(0, 9) : 0);
      if (isBackwards && choose.oneIn(2))
        strides[d] = -strides[d];
      if (repeats && choose.oneIn(2))
        strides[d] = 0;
    }
  }
  if (elementCount(shape) == 0)
    return;
  int64_t last = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    (strides[d] < 0 ? first : last) += (shape[d] - 1) * (strides[d] < 0 ? -strides[d] : strides[d]);
  places = first + last + 1;
}

template <typename Visit> void Layout::forEach(Visit visit) const {
  std::vector<int64_t> index(shape.size(), 0);
  int64_t place = first;
  for (int64_t linear = 0, count = elementCount(shape); linear < count; ++linear) {
    visit(linear, place);
    for (size_t d = index.size(); d-- > 0;) {
      place += strides[d];
      if (++index[d] < shape[d])
        break;
      place -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

//===--- Launcher -----------------------------------------------------------------------------------------------===//

GuardedMemory &Launcher::nextBlock(const std::string &name) {
  if (usedBlocks_ == blocks_.size())
    blocks_.emplace_back();
  Block &block = blocks_[usedBlocks_++];
  block.name = name;
  return block.memory;
}

void Launcher::addTensor(const Operand &operand, HostTensor dense, bool isOutput, Choice &choose) {
  int64_t bytes = storageBytes(operand.dtype);
  size_t size = static_cast<size_t>(bytes);
  Layout layout(operand, dense.shape(), isOutput, choose);
  auto placement = static_cast<Placement>(choose.number(0, 2));
  int64_t align = std::max(bytes, operand.align), offset = choose.number(0, 255) * align % 4096;
  GuardedMemory &memory = nextBlock(operand.name);
  std::byte *begin = memory.place(layout.places * bytes, placement, align, offset);
  if (isOutput)
    memory.fillWithNoise(static_cast<uint64_t>(choose.number(0, 1 << 30)));
  else
    memory.fillWithNan();
  // Elements that share a place have the value of the last one.
  layout.forEach([&](int64_t linear, int64_t place) {
    if (isOutput)
      std::memset(begin + place * bytes, 0xff, size);
    else
      std::memcpy(begin + place * bytes, dense.element(linear), size);
  });
  if (!isOutput)
    layout.forEach(
        [&](int64_t linear, int64_t place) { std::memcpy(dense.element(linear), begin + place * bytes, size); });
  memory.remember();
  tensors_.push_back({std::move(layout), std::move(dense), &blocks_[usedBlocks_ - 1], begin, {}});
  Tensor &tensor = tensors_.back();
  tensor.view.data = begin + tensor.layout.first * bytes;
  tensor.view.device = {kDLCPU, 0};
  tensor.view.ndim = static_cast<int32_t>(tensor.layout.shape.size());
  tensor.view.dtype = toDlpackType(operand.dtype);
  tensor.view.shape = tensor.layout.shape.data();
  tensor.view.strides = tensor.layout.strides.data();
}

Status Launcher::addOperands(const Description &description, const Binding &binding, uint64_t seed, Choice &choose) {
  usedBlocks_ = 0;
  tensors_.clear();
  inputs_ = description.inputs.size();
  for (size_t i = 0; i < inputs_; ++i) {
    TILEJIT_ASSIGN_OR_RETURN(HostTensor input, randomInput(description, binding, static_cast<int>(i), seed));
    addTensor(description.inputs[i], std::move(input), false, choose);
  }
  for (const Operand &operand : description.outputs) {
    TILEJIT_ASSIGN_OR_RETURN(HostTensor output, HostTensor::allocate(operand.dtype, binding.shape(operand)));
    addTensor(operand, std::move(output), true, choose);
  }
  return Status::ok();
}

/// An operand that may be packed is, three times out of four.
Status Launcher::pack(Kernel &kernel, std::vector<const DLTensor *> &views, Choice &choose) {
  for (size_t i = 0; i < inputs_; ++i) {
    TILEJIT_ASSIGN_OR_RETURN(packedBytes_, kernel.packedBytes(i));
    if (packedBytes_ == 0 || choose.oneIn(4))
      continue;
    GuardedMemory &memory = nextBlock("packed " + tensors_[i].block->name);
    auto placement = choose.oneIn(2) ? Placement::AtBegin : Placement::AtEnd;
    packed_ = {};
    packed_.data = memory.place(packedBytes_, placement, 64, 0);
    packed_.device = {kDLCPU, 0};
    packed_.ndim = 1;
    packed_.dtype = toDlpackType(DType::U8);
    packed_.shape = &packedBytes_;
    memory.fillWithNan();
    memory.remember();
    TILEJIT_RETURN_IF_ERROR(kernel.pack(i, *views[i], packed_));
    memory.allow(static_cast<std::byte *>(packed_.data), static_cast<size_t>(packedBytes_));
    if (std::string changes = memory.changes(); !changes.empty())
      return Status(StatusCode::CheckFailed, "while packing " + tensors_[i].block->name + ": " + changes);
    views[i] = &packed_;
    return Status::ok();
  }
  return Status::ok();
}

Status Launcher::addWorkspace(Kernel &kernel, const std::vector<const DLTensor *> &views, LaunchOptions &options,
                              Choice &choose) {
  TILEJIT_ASSIGN_OR_RETURN(int64_t bytes, kernel.workspaceBytes(views, options));
  if (bytes == 0 || choose.oneIn(3))
    return Status::ok();
  GuardedMemory &memory = nextBlock("workspace");
  auto placement = choose.oneIn(2) ? Placement::AtBegin : Placement::AtEnd;
  std::byte *begin = memory.place(bytes, placement, 64, 0);
  memory.fillWithNan();
  memory.remember();
  options.workspace = begin;
  options.workspaceBytes = bytes;
  return Status::ok();
}

std::string Launcher::judge(const Description &description, const Binding &binding, uint64_t seed) {
  std::vector<HostTensor> inputs, outputs;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    Tensor &tensor = tensors_[i];
    bool isOutput = i >= inputs_;
    size_t bytes = static_cast<size_t>(storageBytes(tensor.dense.dtype()));
    if (isOutput)
      tensor.layout.forEach([&](int64_t linear, int64_t place) {
        const std::byte *element = tensor.begin + place * static_cast<int64_t>(bytes);
        std::memcpy(tensor.dense.element(linear), element, bytes);
        tensor.block->memory.allow(element, bytes);
      });
    (isOutput ? outputs : inputs).push_back(std::move(tensor.dense));
    if (std::string changes = tensor.block->memory.changes(); !changes.empty())
      return "outside of the elements of " + tensor.block->name + ": " + changes;
  }
  Expected<VerifyResult> result = verify(description, binding, inputs, outputs, seed);
  if (!result)
    return result.status().message();
  return result->ok ? std::string() : result->summary();
}

std::string Launcher::launch(Kernel &kernel, const Description &description, const Binding &binding, uint64_t seed) {
  Choice choose(seed);
  Status status = addOperands(description, binding, seed, choose);
  std::vector<const DLTensor *> views;
  for (const Tensor &tensor : tensors_)
    views.push_back(&tensor.view);
  LaunchOptions options;
  options.threads = choose.oneIn(4) ? choose.number(2, 3) : 1;
  if (status.isOk())
    status = pack(kernel, views, choose);
  if (status.isOk())
    status = addWorkspace(kernel, views, options, choose);
  if (status.isOk())
    status = kernel.launch(views, options);
  if (!status.isOk())
    return status.message();
  for (size_t i = tensors_.size(); i < usedBlocks_; ++i) {
    Block &block = blocks_[i];
    if (block.name == "workspace")
      block.memory.allow(static_cast<std::byte *>(options.workspace), static_cast<size_t>(options.workspaceBytes));
    if (std::string changes = block.memory.changes(); !changes.empty())
      return "outside of " + block.name + ": " + changes;
  }
  return judge(description, binding, seed);
}

std::string Launcher::describe(const void *address) const {
  for (size_t i = 0; i < usedBlocks_; ++i)
    if (std::string place = blocks_[i].memory.describe(address); !place.empty())
      return blocks_[i].name + ", " + place;
  return {};
}

} // namespace tilejit::sweep
