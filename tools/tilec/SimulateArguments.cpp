// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Parsing, reading and placing the arguments of a simulated kernel.

#include "SimulateArguments.h"
#include "Sources.h"

#include "tilejit/Base/DType.h"
#include "tilejit/Base/File.h"
#include "tilejit/Base/Float.h"
#include "tilejit/Reference/Npy.h"
#include "tilejit/Simulator/TensorMap.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace tilejit::tilec {
namespace {

Status refuse(std::string message) { return Status(StatusCode::InvalidArgument, std::move(message)); }

/// An element type of arguments: those of descriptions, and the unsigned ones that only kernels have.
struct ElementType {
  std::string npy; ///< Spelling in files.
  int bytes = 0;
  std::optional<DType> dtype;
};

std::optional<ElementType> elementType(std::string_view name) {
  if (std::optional<DType> dtype = parseDType(name))
    return ElementType{std::string(npySpelling(*dtype)), storageBytes(*dtype), dtype};
  for (int bytes : {2, 4, 8})
    if (name == "u" + std::to_string(8 * bytes))
      return ElementType{"<u" + std::to_string(bytes), bytes, std::nullopt};
  return std::nullopt;
}

/// Bytes of an element by its spelling in a file; nothing for what is no plain little-endian number.
std::optional<int64_t> elementBytes(std::string_view descr) {
  if (descr.size() < 3 || std::string_view("<|=").find(descr[0]) == std::string_view::npos ||
      std::string_view("fiubVc").find(descr[1]) == std::string_view::npos)
    return std::nullopt;
  int64_t bytes = 0;
  auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), bytes);
  if (error != std::errc() || end != descr.data() + descr.size() || bytes < 1 || bytes > 16)
    return std::nullopt;
  return bytes;
}

template <class T> std::optional<T> parseNumber(std::string_view digits) {
  T value{};
  int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16)
    digits.remove_prefix(2);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty())
    return std::nullopt;
  return value;
}

std::vector<uint8_t> pointerBytes(void *memory, uint32_t bytes) {
  std::vector<uint8_t> pointer(bytes, 0);
  std::memcpy(pointer.data(), &memory, std::min(pointer.size(), sizeof memory));
  return pointer;
}

} // namespace

Expected<SimulateArguments> SimulateArguments::parse(const std::vector<std::string> &texts) {
  SimulateArguments result;
  for (size_t i = 0; i < texts.size(); ++i) {
    TILEJIT_ASSIGN_OR_RETURN(Argument argument, parseOne(texts[i], "--arg " + std::to_string(i + 1)));
    argument.text = texts[i];
    result.arguments_.push_back(std::move(argument));
  }
  TILEJIT_RETURN_IF_ERROR(result.checkSame());
  return result;
}

/// Arguments that share an array name one that has it.
Status SimulateArguments::checkSame() const {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const Argument &argument = arguments_[i];
    if (argument.form == Form::Same &&
        (argument.other > arguments_.size() || !arguments_[argument.other - 1].isArray()))
      return refuse("--arg " + std::to_string(i + 1) + ": --arg " + std::to_string(argument.other) +
                    " is no array; expected the number of an in, inout or out argument");
  }
  return Status::ok();
}

Expected<SimulateArguments::Argument> SimulateArguments::parseOne(std::string text, const std::string &option) {
  if (text == "null")
    return Argument();
  std::optional<MapSpec> map;
  if (isMapText(text)) {
    TILEJIT_ASSIGN_OR_RETURN(map, takeMapSpec(text, option));
  }
  size_t colon = text.find(':');
  std::string form = text.substr(0, colon);
  if (colon == std::string::npos || colon + 1 == text.size())
    return refuse(option +
                  ": expected in:FILE, inout:FILE, out:FILE:TYPE[SIZES], arg:NUMBER, TYPE:VALUE or null, found '" +
                  text + "'");
  bool isArray = form == "in" || form == "inout" || form == "out" || form == "arg";
  if (map && !isArray)
    return refuse(option + ": expected an array (in, inout, out or arg) after map[...], found '" + text + "'");
  if (!isArray)
    return parseScalar(text, option);
  TILEJIT_ASSIGN_OR_RETURN(Argument argument, parseArray(form, text.substr(colon + 1), option));
  argument.map = std::move(map);
  return argument;
}

Expected<SimulateArguments::Argument> SimulateArguments::parseArray(const std::string &form, const std::string &rest,
                                                                    const std::string &option) {
  if (form == "out")
    return parseOutput(rest, option);
  Argument argument;
  if (form == "arg") {
    TILEJIT_ASSIGN_OR_RETURN(int64_t other, parseInteger(rest, option, 1, 4096));
    argument.form = Form::Same;
    argument.other = static_cast<size_t>(other);
    return argument;
  }
  argument.form = form == "in" ? Form::In : Form::InOut;
  argument.file = rest;
  if (Status status = readArray(argument); !status)
    return std::move(status).inContext(option);
  if (argument.form == Form::InOut) {
    TILEJIT_RETURN_IF_ERROR(checkWritable(argument.file));
  }
  return argument;
}

Status SimulateArguments::readArray(Argument &argument) {
  TILEJIT_ASSIGN_OR_RETURN(NpyHeader header, readNpyHeader(argument.file));
  std::optional<int64_t> element = elementBytes(header.descr);
  if (!element)
    return refuse(argument.file + ": expected little-endian numbers, found elements of type '" + header.descr + "'");
  if (header.fortranOrder && header.shape.size() > 1)
    return refuse(argument.file + ": expected row-major order (C), found Fortran order");
  int64_t count = 1;
  for (int64_t size : header.shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return refuse(argument.file + ": the shape is too large");
  TILEJIT_ASSIGN_OR_RETURN(std::string bytes, readFile(realSystem(), argument.file, int64_t{1} << 36));
  int64_t found = static_cast<int64_t>(bytes.size()) - header.dataOffset;
  if (__builtin_mul_overflow(count, *element, &argument.size) || found != argument.size)
    return refuse(argument.file + ": expected " + std::to_string(argument.size) + " bytes of data, found " +
                  std::to_string(found));
  argument.header = bytes.substr(0, static_cast<size_t>(header.dataOffset));
  argument.bytes.assign(bytes.begin() + header.dataOffset, bytes.end());
  argument.descr = header.descr;
  argument.shape = header.shape;
  return Status::ok();
}

Expected<SimulateArguments::Argument> SimulateArguments::parseOutput(const std::string &text,
                                                                     const std::string &option) {
  Argument argument;
  argument.form = Form::Out;
  size_t colon = text.rfind(':'), open = text.rfind('[');
  std::optional<ElementType> type;
  if (colon != std::string::npos && open != std::string::npos && open > colon && text.back() == ']')
    type = elementType(std::string_view(text).substr(colon + 1, open - colon - 1));
  if (!type || colon == 0)
    return refuse(option + ": expected out:FILE:TYPE[SIZES] such as out:c.npy:f32[128,64], found 'out:" + text + "'");
  std::vector<int64_t> shape;
  argument.size = type->bytes;
  if (std::string sizes = text.substr(open + 1, text.size() - open - 2); !sizes.empty()) {
    TILEJIT_ASSIGN_OR_RETURN(std::vector<std::string> words, splitWords(sizes, option));
    for (const std::string &word : words) {
      TILEJIT_ASSIGN_OR_RETURN(int64_t size, parseInteger(word, option, 0, int64_t{1} << 36));
      if (__builtin_mul_overflow(argument.size, size, &argument.size) || argument.size > int64_t{1} << 36)
        return refuse(option + ": the array is larger than 64 GiB");
      shape.push_back(size);
    }
  }
  argument.file = text.substr(0, colon);
  argument.header = npyHeaderText(type->npy, shape);
  argument.descr = type->npy;
  argument.shape = std::move(shape);
  TILEJIT_RETURN_IF_ERROR(checkWritable(argument.file));
  return argument;
}

Expected<SimulateArguments::Argument> SimulateArguments::parseScalar(const std::string &text,
                                                                     const std::string &option) {
  Argument argument;
  argument.form = Form::Scalar;
  size_t colon = text.find(':');
  argument.type = text.substr(0, colon);
  std::string digits = text.substr(colon + 1);
  std::optional<ElementType> type = elementType(argument.type);
  if (!type)
    return refuse(option + ": unknown type '" + argument.type +
                  "'; expected i8 to i64, u8 to u64, f16, bf16, f32, f64, in, inout, out, arg, map or null");
  uint64_t bits = 0;
  if (type->dtype && isFloat(*type->dtype)) {
    char *end = nullptr;
    double value = std::strtod(digits.c_str(), &end);
    if (*end != '\0')
      return refuse(option + ": expected a number, found '" + digits + "'");
    bits = encodeFloat(value, *type->dtype);
  } else {
    // Any value that the width can hold, signed or not.
    unsigned width = 8 * static_cast<unsigned>(type->bytes);
    std::optional<int64_t> value = parseNumber<int64_t>(digits);
    std::optional<uint64_t> large = value ? std::nullopt : parseNumber<uint64_t>(digits);
    bool inRange =
        large ? width == 64
              : value && (width == 64 || (*value >= -(int64_t{1} << (width - 1)) && *value < int64_t{1} << width));
    if (!inRange)
      return refuse(option + ": expected an integer of " + std::to_string(width) + " bits, found '" + digits + "'");
    bits = large ? *large : static_cast<uint64_t>(*value);
  }
  argument.bytes.resize(static_cast<size_t>(type->bytes));
  std::memcpy(argument.bytes.data(), &bits, argument.bytes.size());
  return argument;
}

bool SimulateArguments::fits(const Argument &argument, const sim::ParameterInfo &parameter) {
  if (argument.map)
    return parameter.isByValue ? parameter.bytes == sim::tensorMapBytes : parameter.isPointer;
  if (parameter.isByValue)
    return (argument.form == Form::In && argument.size == parameter.bytes) ||
           (argument.form == Form::Scalar && argument.bytes.size() == parameter.bytes);
  if (parameter.isPointer)
    return argument.form != Form::Scalar;
  if (argument.form != Form::Scalar || argument.bytes.size() != parameter.bytes)
    return false;
  bool isFloatText = argument.type[0] == 'f' || argument.type[0] == 'b';
  return isFloatText == parameter.isFloat || parameter.bytes == 1;
}

Status SimulateArguments::check(const sim::KernelInfo &kernel) const {
  std::string hint = "kernel '" + kernel.name + "' takes, in this order: " + parametersText(kernel);
  if (arguments_.size() > kernel.parameters.size())
    return refuse("kernel '" + kernel.name + "' takes " + std::to_string(kernel.parameters.size()) +
                  " arguments, found " + std::to_string(arguments_.size()) + " --arg")
        .withHint(hint);
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const sim::ParameterInfo &parameter = kernel.parameters[i];
    sim::KernelInfo only;
    only.parameters = {parameter};
    if (i >= arguments_.size()) {
      if (!parameter.isPointer || parameter.isByValue)
        return refuse("--arg " + std::to_string(i + 1) + " is missing: expected " + parametersText(only) + "; " +
                      std::to_string(arguments_.size()) + " were given")
            .withHint(hint);
    } else if (!fits(arguments_[i], parameter)) {
      return refuse("--arg " + std::to_string(i + 1) + ": expected " + parametersText(only) + ", found '" +
                    arguments_[i].text + "'")
          .withHint(hint);
    }
  }
  return Status::ok();
}

Expected<std::vector<std::vector<uint8_t>>> SimulateArguments::place(sim::Simulator &simulator,
                                                                     const sim::KernelInfo &kernel) {
  auto isValue = [&](size_t i) {
    return arguments_[i].form == Form::Scalar || (kernel.parameters[i].isByValue && !arguments_[i].map);
  };
  for (size_t i = 0; i < arguments_.size(); ++i) {
    Argument &argument = arguments_[i];
    if (!argument.isArray() || isValue(i))
      continue;
    const std::string &name = kernel.parameters[i].name;
    TILEJIT_ASSIGN_OR_RETURN(argument.memory, simulator.allocate(argument.size, name, argument.form != Form::Out));
    if (!argument.bytes.empty())
      std::memcpy(argument.memory, argument.bytes.data(), argument.bytes.size());
  }
  std::vector<std::vector<uint8_t>> values;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const Argument &argument = arguments_[i];
    const Argument &array = argument.form == Form::Same ? arguments_[argument.other - 1] : argument;
    if (argument.form == Form::Same && !array.memory)
      return refuse("--arg " + std::to_string(i + 1) + ": --arg " + std::to_string(argument.other) +
                    " is passed by value; expected an array in memory");
    if (isValue(i)) {
      values.push_back(argument.bytes);
    } else if (argument.map) {
      Expected<std::vector<uint8_t>> map = placeMap(simulator, argument, array, kernel.parameters[i]);
      if (!map)
        return Status(map.status()).inContext("--arg " + std::to_string(i + 1));
      values.push_back(*std::move(map));
    } else {
      values.push_back(pointerBytes(array.memory, kernel.parameters[i].bytes));
    }
  }
  return values;
}

/// The map itself where the kernel takes it by value, else its address.
Expected<std::vector<uint8_t>> SimulateArguments::placeMap(sim::Simulator &simulator, const Argument &argument,
                                                           const Argument &array, const sim::ParameterInfo &parameter) {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<uint8_t> map, encodeMap(*argument.map, array.memory, array.descr, array.shape));
  if (parameter.isByValue)
    return map;
  TILEJIT_ASSIGN_OR_RETURN(void *place, simulator.allocate(static_cast<int64_t>(map.size()), parameter.name, true));
  std::memcpy(place, map.data(), map.size());
  return pointerBytes(place, parameter.bytes);
}

Status SimulateArguments::writeOutputs() const {
  for (const Argument &argument : arguments_) {
    if (argument.form != Form::InOut && argument.form != Form::Out)
      continue;
    TILEJIT_RETURN_IF_ERROR(
        writeNpyBytes(argument.file, argument.header, argument.memory, static_cast<size_t>(argument.size)));
  }
  return Status::ok();
}

std::string parametersText(const sim::KernelInfo &kernel) {
  std::string text;
  for (const sim::ParameterInfo &parameter : kernel.parameters) {
    std::string type = parameter.isByValue   ? std::to_string(parameter.bytes) + " bytes"
                       : parameter.isPointer ? "pointer"
                       : parameter.bytes > 8 ? std::to_string(parameter.bytes) + " bytes"
                       : parameter.isFloat   ? "f" + std::to_string(8 * parameter.bytes)
                                             : "i" + std::to_string(8 * parameter.bytes);
    text += (text.empty() ? "" : ", ") + type + " " + parameter.name;
  }
  return text.empty() ? "nothing" : text;
}

} // namespace tilejit::tilec
