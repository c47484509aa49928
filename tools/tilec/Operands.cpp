// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tensors of one execution: strided storage, descriptions. Tile kernels are in TileOperands.cpp.

#include "Operands.h"

#include "Sources.h"

#include "tilejit/Base/Text.h"
#include "tilejit/Reference/Npy.h"
#include "tilejit/Reference/Random.h"
#include "tilejit/Runtime/Kernel.h"

#include <charconv>
#include <cstring>

namespace tilejit::tilec {
namespace {

Status refuse(std::string message) { return Status(StatusCode::InvalidArgument, std::move(message)); }

Expected<uint64_t> parseSeed(const std::string &text) {
  uint64_t seed = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    return refuse("--random-seed: expected an unsigned 64-bit integer, found '" + text + "'");
  return seed;
}

/// "a, b, bias".
std::string namesText(const std::vector<Operand> &operands) {
  std::string text;
  for (const Operand &operand : operands)
    text += (text.empty() ? "" : ", ") + operand.name;
  return text;
}

Status checkNames(const std::map<std::string, std::string> &given, const std::vector<Operand> &known,
                  const std::string &option) {
  for (const auto &[name, value] : given) {
    bool found = false;
    for (const Operand &operand : known)
      found |= operand.name == name;
    if (!found)
      return refuse(option + ": no operand '" + name + "'; expected one of " + namesText(known));
  }
  return Status::ok();
}

/// Strides of an operand for a binding; empty where it is dense.
std::vector<int64_t> actualStrides(const Operand &operand, const Binding &binding) {
  if (!operand.strides)
    return {};
  std::vector<int64_t> dense = denseStrides(binding.shape(operand));
  std::vector<int64_t> strides;
  for (size_t i = 0; i < operand.strides->size(); ++i) {
    const Stride &stride = (*operand.strides)[i];
    strides.push_back(stride.kind == Stride::Kind::Constant ? stride.value
                      : stride.kind == Stride::Kind::Symbol ? binding.sizes[stride.value]
                                                            : dense[i]);
  }
  return strides;
}

} // namespace

Expected<std::map<std::string, std::string>> namedValues(const std::vector<std::string> &texts,
                                                         const std::string &option) {
  std::map<std::string, std::string> values;
  for (const std::string &text : texts) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return refuse(option + ": expected NAME=FILE, found '" + text + "'");
    if (!values.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      return refuse(option + ": the name '" + text.substr(0, equals) + "' is given twice");
  }
  return values;
}

template <typename Visit> void LaunchTensor::forEachElement(Visit visit) const {
  std::vector<int64_t> index(shape_.size(), 0);
  for (int64_t linear = 0, count = elementCount(shape_); linear < count; ++linear) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d)
      offset += index[d] * strides_[d];
    visit(linear, offset);
    for (size_t d = index.size(); d-- > 0 && ++index[d] == shape_[d];)
      index[d] = 0;
  }
}

Expected<LaunchTensor> LaunchTensor::make(HostTensor &dense, std::vector<int64_t> strides, bool copyIn) {
  LaunchTensor tensor(dense);
  tensor.shape_ = dense.shape();
  tensor.strides_ = strides.empty() ? dense.strides() : std::move(strides);
  tensor.isStrided_ = tensor.strides_ != dense.strides() && dense.elements() > 0;
  if (!tensor.isStrided_)
    return tensor;
  int64_t span = 1;
  for (size_t d = 0; d < tensor.shape_.size(); ++d)
    span += (tensor.shape_[d] - 1) * tensor.strides_[d];
  TILEJIT_ASSIGN_OR_RETURN(tensor.storage_, HostTensor::allocate(dense.dtype(), {span}));
  tensor.storage_.fillBytes(0xff);
  size_t bytes = static_cast<size_t>(storageBytes(dense.dtype()));
  if (copyIn)
    tensor.forEachElement([&](int64_t linear, int64_t offset) {
      std::memcpy(tensor.storage_.element(offset), dense.element(linear), bytes);
    });
  return tensor;
}

void LaunchTensor::copyBack() {
  if (!isStrided_)
    return;
  size_t bytes = static_cast<size_t>(storageBytes(dense_->dtype()));
  forEachElement(
      [&](int64_t linear, int64_t offset) { std::memcpy(dense_->element(linear), storage_.element(offset), bytes); });
}

DLTensor LaunchTensor::view() {
  DLTensor view{};
  view.data = isStrided_ ? storage_.data() : dense_->data();
  view.device = {kDLCPU, 0};
  view.ndim = static_cast<int32_t>(shape_.size());
  view.dtype = toDlpackType(dense_->dtype());
  view.shape = shape_.data();
  view.strides = strides_.data();
  return view;
}

Expected<Operands> Operands::forDescription(const Description &description, const OperandOptions &options,
                                            int64_t defaultSize) {
  Operands operands;
  TILEJIT_ASSIGN_OR_RETURN(operands.seed_, parseSeed(options.seed));
  TILEJIT_ASSIGN_OR_RETURN(auto inputFiles, namedValues(options.inputs, "--input"));
  TILEJIT_ASSIGN_OR_RETURN(operands.outputFiles_, namedValues(options.outputs, "--output"));
  TILEJIT_RETURN_IF_ERROR(checkNames(inputFiles, description.inputs, "--input"));
  TILEJIT_RETURN_IF_ERROR(checkNames(operands.outputFiles_, description.outputs, "--output"));
  for (const auto &[name, path] : operands.outputFiles_) {
    TILEJIT_RETURN_IF_ERROR(checkWritable(path));
  }
  TILEJIT_ASSIGN_OR_RETURN(operands.binding_, bindFromSettings(description, options.set));
  for (const auto &[name, path] : inputFiles) {
    TILEJIT_ASSIGN_OR_RETURN(NpyHeader header, readNpyHeader(path));
    Status bound = bindFromShape(description, *description.findInput(name), header.shape, operands.binding_);
    if (!bound)
      return std::move(bound).inContext(path);
  }
  bindRest(description, defaultSize, operands.binding_);
  TILEJIT_RETURN_IF_ERROR(checkBinding(description, operands.binding_));
  for (size_t i = 0; i < description.inputs.size(); ++i) {
    const Operand &operand = description.inputs[i];
    auto file = inputFiles.find(operand.name);
    std::vector<int64_t> shape = operands.binding_.shape(operand);
    Expected<HostTensor> tensor =
        file != inputFiles.end() ? readNpy(file->second, operand.dtype, shape)
                                 : randomInput(description, operands.binding_, static_cast<int>(i), operands.seed_);
    if (!tensor)
      return tensor.status();
    operands.inputs_.push_back(*std::move(tensor));
    operands.order_.push_back({false, i});
  }
  for (size_t i = 0; i < description.outputs.size(); ++i) {
    const Operand &operand = description.outputs[i];
    TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::allocate(operand.dtype, operands.binding_.shape(operand)));
    operands.outputs_.push_back(std::move(tensor));
    operands.outputNames_.push_back(operand.name);
    operands.order_.push_back({true, i});
  }
  operands.poisonOutputs();
  TILEJIT_RETURN_IF_ERROR(operands.addStrided(description));
  return operands;
}

Status Operands::addStrided(const Description &description) {
  for (auto [isOutput, index] : order_) {
    const Operand &operand = (isOutput ? description.outputs : description.inputs)[index];
    HostTensor &dense = (isOutput ? outputs_ : inputs_)[index];
    TILEJIT_ASSIGN_OR_RETURN(LaunchTensor tensor,
                             LaunchTensor::make(dense, actualStrides(operand, binding_), !isOutput));
    launchTensors_.push_back(std::move(tensor));
  }
  return Status::ok();
}

std::vector<const DLTensor *> Operands::tensors() {
  if (views_.empty())
    for (LaunchTensor &tensor : launchTensors_)
      views_.push_back(tensor.view());
  std::vector<const DLTensor *> pointers;
  for (const DLTensor &view : views_)
    pointers.push_back(&view);
  return pointers;
}

void Operands::collect() {
  for (size_t i = 0; i < launchTensors_.size(); ++i)
    if (order_[i].first)
      launchTensors_[i].copyBack();
}

void Operands::poisonOutputs() {
  for (HostTensor &output : outputs_)
    output.fillBytes(0xff);
}

Status Operands::writeOutputs() const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    auto file = outputFiles_.find(outputNames_[i]);
    if (file == outputFiles_.end())
      continue;
    TILEJIT_RETURN_IF_ERROR(writeNpy(file->second, outputs_[i]));
  }
  return Status::ok();
}

} // namespace tilejit::tilec
