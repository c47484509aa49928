// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Parsing and printing of arguments.

#include "Arguments.h"

#include "tilejit/Base/Float.h"
#include "tilejit/Reference/Npy.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tilejit {

static Status malformed(std::string_view text, const char *expected) {
  return Status(StatusCode::InvalidArgument, std::string("expected ") + expected + ", got '" + std::string(text) + "'");
}

/// Splits at the first occurrence of a character.
static std::pair<std::string_view, std::string_view> splitAt(std::string_view text, char separator) {
  size_t at = text.find(separator);
  return at == std::string_view::npos ? std::pair(text, std::string_view())
                                      : std::pair(text.substr(0, at), text.substr(at + 1));
}

/// Reads "f32[4,4]".
static Expected<HostTensor> makeTensor(std::string_view text) {
  auto [name, sizes] = splitAt(text, '[');
  std::optional<DType> dtype = parseDType(name);
  if (!dtype || sizes.empty() || sizes.back() != ']')
    return malformed(text, "an array type like f32[4,4]");
  sizes.remove_suffix(1);
  std::vector<int64_t> shape;
  while (!sizes.empty()) {
    auto [size, rest] = splitAt(sizes, ',');
    int64_t value = 0;
    if (std::from_chars(size.data(), size.data() + size.size(), value).ptr != size.data() + size.size() || size.empty())
      return malformed(text, "an array type like f32[4,4]");
    shape.push_back(value);
    sizes = rest;
  }
  return HostTensor::allocate(*dtype, shape);
}

/// Reads a number as strtod and strtoll do, to the end.
static bool parseNumber(std::string_view text, double &real, int64_t &integer) {
  std::string copy(text);
  char *end = nullptr;
  real = std::strtod(copy.c_str(), &end);
  bool isReal = !copy.empty() && *end == '\0';
  integer = std::strtoll(copy.c_str(), &end, 0);
  if (*end != '\0')
    integer = static_cast<int64_t>(real);
  return isReal;
}

static void storeNumber(HostTensor &tensor, int64_t index, double real, int64_t integer) {
  if (isFloat(tensor.dtype()))
    storeDouble(tensor.element(index), tensor.dtype(), real);
  else
    storeInteger(tensor.element(index), tensor.dtype(), integer);
}

/// Fills a tensor made in place.
static Status fill(HostTensor &tensor, std::string_view kind, std::string_view values) {
  tensor.fillBytes(0);
  if (kind == "zero")
    return Status::ok();
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    double real = double(i);
    int64_t integer = i;
    if (kind != "iota") {
      auto [value, rest] = splitAt(values, ',');
      if (!parseNumber(value, real, integer))
        return malformed(value, "a number for each element");
      if (kind == "data")
        values = rest;
    }
    storeNumber(tensor, i, real, integer);
  }
  return kind == "data" && !values.empty() ? malformed(values, "a number for each element") : Status::ok();
}

/// Reads a file of whatever type it has.
static Expected<HostTensor> readTensor(const std::string &path) {
  TILEJIT_ASSIGN_OR_RETURN(NpyHeader header, readNpyHeader(path));
  for (DType dtype : allDTypes())
    if (npySpellingFits(header.descr, dtype))
      return readNpy(path, dtype);
  return malformed(header.descr, "an array of a known type");
}

static Expected<Argument> finish(Expected<HostTensor> tensor, std::string writeTo, bool fromFile) {
  if (!tensor)
    return tensor.status();
  Argument argument;
  argument.tensor = *std::move(tensor);
  argument.host = HostArgument::view(argument.tensor->data(), argument.tensor->sizeInBytes(), argument.tensor->shape());
  argument.before.assign(argument.tensor->bytes().begin(), argument.tensor->bytes().end());
  argument.writeTo = std::move(writeTo);
  argument.fromFile = fromFile;
  return argument;
}

Expected<Argument> parseArgument(std::string_view text) {
  auto [kind, rest] = splitAt(text, ':');
  if (kind == "in" || kind == "inout")
    return finish(readTensor(std::string(rest)), kind == "inout" ? std::string(rest) : std::string(), true);
  if (kind == "out") {
    size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos)
      return malformed(text, "out:FILE:TYPE[SIZES]");
    Expected<HostTensor> tensor = makeTensor(rest.substr(colon + 1));
    if (tensor)
      tensor->fillBytes(0xff);
    return finish(std::move(tensor), std::string(rest.substr(0, colon)), true);
  }
  if (kind == "iota" || kind == "zero" || kind == "fill" || kind == "data") {
    auto [type, values] = splitAt(rest, '=');
    Expected<HostTensor> tensor = makeTensor(type);
    if (tensor)
      TILEJIT_RETURN_IF_ERROR(fill(*tensor, kind, values));
    return finish(std::move(tensor), {}, false);
  }
  std::optional<DType> dtype = parseDType(kind);
  Argument argument;
  if ((!dtype && kind != "index") || !parseNumber(rest, argument.host.real, argument.host.integer))
    return malformed(text, "in:, inout:, out:, iota:, zero:, fill:, data: or a scalar like i32:5");
  return argument;
}

bool hasChanged(const Argument &argument) {
  if (!argument.tensor)
    return false;
  auto bytes = argument.tensor->bytes();
  return !bytes.empty() && std::memcmp(bytes.data(), argument.before.data(), bytes.size()) != 0;
}

/// Writes one element.
static void append(std::string &out, const HostTensor &tensor, int64_t index) {
  char text[40];
  if (isFloat(tensor.dtype())) {
    double value = loadAsDouble(tensor.element(index), tensor.dtype());
    // The sign of a NaN means nothing.
    std::snprintf(text, sizeof text, "%.9g", std::isnan(value) ? std::fabs(value) : value);
  } else {
    std::snprintf(text, sizeof text, "%lld",
                  static_cast<long long>(loadAsInteger(tensor.element(index), tensor.dtype())));
  }
  out += text;
}

/// Writes the elements of a dimension and those inside it.
static void append(std::string &out, const HostTensor &tensor, size_t dim, int64_t &index) {
  if (dim == tensor.shape().size()) {
    append(out, tensor, index++);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < tensor.shape()[dim]; ++i) {
    if (i != 0)
      out += ", ";
    append(out, tensor, dim + 1, index);
  }
  out += ']';
}

std::string describe(const HostTensor &tensor) {
  std::string out(dtypeName(tensor.dtype()));
  out += '[';
  for (size_t dim = 0; dim < tensor.shape().size(); ++dim)
    out += (dim == 0 ? "" : ",") + std::to_string(tensor.shape()[dim]);
  out += "] = ";
  int64_t index = 0;
  append(out, tensor, 0, index);
  return out;
}

} // namespace tilejit
