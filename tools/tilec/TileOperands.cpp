// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operands of tile kernels: their types come from the kernel's manifest and from the command line.

#include "Operands.h"
#include "Sources.h"

#include "tilejit/Base/Float.h"
#include "tilejit/Reference/Npy.h"

#include <cstdlib>
#include <cstring>

namespace tilejit::tilec {
namespace {

Status refuse(std::string message) { return Status(StatusCode::InvalidArgument, std::move(message)); }

constexpr int32_t bareScalar = -2; ///< abi::OperandInfo::rank of a scalar.

/// "f32[128,64]" apart.
struct TypeText {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
};

Expected<TypeText> parseTypeText(const std::string &text, const std::string &option) {
  size_t open = text.find('[');
  std::optional<DType> dtype = parseDType(text.substr(0, open));
  if (!dtype || open == std::string::npos || text.back() != ']')
    return refuse(option + ": expected a type such as f32[128,64], found '" + text + "'");
  TypeText type{*dtype, {}};
  std::string sizes = text.substr(open + 1, text.size() - open - 2);
  if (sizes.empty())
    return type;
  TILEJIT_ASSIGN_OR_RETURN(std::vector<std::string> words, splitWords(sizes, option));
  for (const std::string &word : words) {
    TILEJIT_ASSIGN_OR_RETURN(int64_t size, parseInteger(word, option, 0, int64_t{1} << 40));
    type.shape.push_back(size);
  }
  return type;
}

/// A scalar argument "i32:5" as a tensor of rank 0.
Expected<HostTensor> parseScalar(const std::string &text, const abi::OperandInfo &operand) {
  std::string option = "--input " + operand.name;
  size_t colon = text.find(':');
  std::optional<DType> dtype = parseDType(text.substr(0, colon));
  if (colon == std::string::npos || !dtype || dtypeName(*dtype) != operand.dtype)
    return refuse(option + ": expected " + operand.dtype + ":VALUE, found '" + text + "'");
  std::string digits = text.substr(colon + 1);
  char *end = nullptr;
  double value = std::strtod(digits.c_str(), &end);
  if (digits.empty() || *end != '\0')
    return refuse(option + ": expected a number, found '" + digits + "'");
  TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::allocate(*dtype, {}));
  if (isFloat(*dtype)) {
    uint64_t bits = encodeFloat(value, *dtype);
    std::memcpy(tensor.element(0), &bits, static_cast<size_t>(storageBytes(*dtype)));
  } else {
    TILEJIT_ASSIGN_OR_RETURN(int64_t integer, parseInteger(digits, option, minValue(*dtype), maxValue(*dtype)));
    std::memcpy(tensor.element(0), &integer, static_cast<size_t>(storageBytes(*dtype)));
  }
  return tensor;
}

/// An input: a scalar, or a file of the dtype that the kernel's argument has.
Expected<HostTensor> readInput(const std::string &text, const abi::OperandInfo &operand) {
  if (operand.rank == bareScalar)
    return parseScalar(text, operand);
  std::optional<DType> dtype = parseDType(operand.dtype);
  if (!dtype)
    return refuse("--input " + operand.name + ": the argument's type " + operand.dtype + " has no file form");
  return readNpy(text, *dtype);
}

} // namespace

Expected<Operands> Operands::forTileKernel(const abi::Manifest &manifest, const OperandOptions &options) {
  Operands operands;
  if (!options.set.empty())
    return refuse("--set: a tile file has no named dimensions");
  TILEJIT_ASSIGN_OR_RETURN(auto inputs, namedValues(options.inputs, "--input"));
  TILEJIT_ASSIGN_OR_RETURN(auto outputs, namedValues(options.outputs, "--output"));
  for (const abi::OperandInfo &operand : manifest.operands) {
    auto input = inputs.extract(operand.name);
    auto output = outputs.extract(operand.name);
    if (input && output)
      return refuse("--output " + operand.name + ": the operand is given by --input already");
    if (!input && !output)
      return refuse("the kernel's argument '" + operand.name + "' needs --input " + operand.name +
                    "=FILE or --output " + operand.name + "=FILE:TYPE[SIZES]");
    if (input) {
      TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor, readInput(input.mapped(), operand));
      operands.order_.push_back({false, operands.inputs_.size()});
      operands.inputs_.push_back(std::move(tensor));
      continue;
    }
    std::string option = "--output " + operand.name, text = output.mapped();
    size_t colon = text.rfind(':');
    if (colon == std::string::npos)
      return refuse(option + ": expected FILE:TYPE[SIZES], found '" + text + "'");
    TILEJIT_ASSIGN_OR_RETURN(TypeText type, parseTypeText(text.substr(colon + 1), option));
    TILEJIT_RETURN_IF_ERROR(checkWritable(text.substr(0, colon)));
    TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::allocate(type.dtype, type.shape));
    operands.order_.push_back({true, operands.outputs_.size()});
    operands.outputs_.push_back(std::move(tensor));
    operands.outputNames_.push_back(operand.name);
    operands.outputFiles_[operand.name] = text.substr(0, colon);
  }
  for (const auto &[name, value] : inputs)
    return refuse("--input: the kernel has no argument '" + name + "'");
  for (const auto &[name, value] : outputs)
    return refuse("--output: the kernel has no argument '" + name + "'");
  operands.poisonOutputs();
  for (auto [isOutput, index] : operands.order_) {
    HostTensor &dense = (isOutput ? operands.outputs_ : operands.inputs_)[index];
    TILEJIT_ASSIGN_OR_RETURN(LaunchTensor tensor, LaunchTensor::make(dense, {}, !isOutput));
    operands.launchTensors_.push_back(std::move(tensor));
  }
  return operands;
}

} // namespace tilejit::tilec
