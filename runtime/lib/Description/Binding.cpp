// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sizes of symbolic dimensions: from settings, from actual shapes, and the checks of the whole.

#include "Shapes.h"

#include "tilejit/Base/Text.h"
#include "tilejit/Description/Parse.h"

#include <algorithm>
#include <limits>

namespace tilejit {
namespace {

std::string quoted(std::string_view name) { return '\'' + std::string(name) + '\''; }

std::string rangeText(const SymbolicDim &dim) {
  std::string text = "a size from " + std::to_string(dim.min) + " to " + std::to_string(dim.max);
  if (dim.multipleOf != 1)
    text += ", a multiple of " + std::to_string(dim.multipleOf);
  return text;
}

bool isLegal(const SymbolicDim &dim, int64_t size) {
  return size >= dim.min && size <= dim.max && size % dim.multipleOf == 0;
}

Status checkSize(const SymbolicDim &dim, int64_t size) {
  if (isLegal(dim, size))
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                "dimension " + quoted(dim.name) + ": expected " + rangeText(dim) + ", found " + std::to_string(size));
}

Binding emptyBinding(const Description &description) { return {std::vector<int64_t>(description.dims.size(), -1)}; }

std::string_view side(const Description &description, const Operand &operand) {
  return description.findInput(operand.name) == &operand ? "input " : "output ";
}

/// A shape with what is bound put in: "[m, 5] with m = 4".
std::string expectedShape(const Description &description, const Operand &operand, const Binding &binding) {
  std::string text = shapeText(description, operand.shape), bound;
  std::vector<int32_t> seen;
  for (const Dim &dim : operand.shape) {
    if (!dim.isSymbolic() || binding.sizes[dim.symbol] < 0 ||
        std::find(seen.begin(), seen.end(), dim.symbol) != seen.end())
      continue;
    seen.push_back(dim.symbol);
    bound += (bound.empty() ? " with " : ", ") + description.dims[dim.symbol].name + " = " +
             std::to_string(binding.sizes[dim.symbol]);
  }
  return text + bound;
}

Status checkTensor(const Description &description, const Operand &operand, const Binding &binding) {
  std::vector<int64_t> sizes = binding.shape(operand), strides;
  bool allKnown = operand.strides.has_value();
  for (const Stride &stride : operand.strides.value_or(std::vector<Stride>())) {
    allKnown &= stride.kind != Stride::Kind::Any;
    strides.push_back(stride.kind == Stride::Kind::Constant ? stride.value
                      : stride.kind == Stride::Kind::Symbol ? binding.sizes[stride.value]
                                                            : -1);
  }
  std::string name = std::string(side(description, operand)) + quoted(operand.name);
  if (!boundedBytes(sizes, strides, storageBytes(operand.dtype)))
    return Status(StatusCode::InvalidArgument, name + ": expected at most 2^46 bytes, found shape " + shapeText(sizes) +
                                                   " of " + std::string(dtypeName(operand.dtype)));
  if (allKnown && description.findOutput(operand.name) == &operand && mayOverlap(sizes, strides))
    return Status(StatusCode::InvalidArgument, name + ": expected elements that lie apart, found shape " +
                                                   shapeText(sizes) + " with strides " + shapeText(strides));
  return Status::ok();
}

/// Extremes of nothing, and indices that do not fit their type.
Status checkReduce(const Description &description, const Binding &binding) {
  const auto &attributes = description.as<ReduceAttributes>();
  bool isArg = attributes.kind == ReduceKind::ArgMax || attributes.kind == ReduceKind::ArgMin;
  if (!isArg && attributes.kind != ReduceKind::Max && attributes.kind != ReduceKind::Min)
    return Status::ok();
  const Operand &x = description.inputs[0];
  int64_t count = 1;
  for (int axis : attributes.axes) {
    int64_t size = binding(x.shape[axis]);
    if (size == 0)
      return Status(StatusCode::InvalidArgument, "dimension " + quoted(dimText(description, x.shape[axis])) +
                                                     ": expected at least one element to choose from, found 0");
    count *= size;
  }
  if (isArg && description.outputs[0].dtype == DType::I32 && count - 1 > std::numeric_limits<int32_t>::max())
    return Status(StatusCode::InvalidArgument,
                  "output 'y': expected i64 for an index into " + std::to_string(count) + " elements, found i32");
  return Status::ok();
}

} // namespace

std::vector<int64_t> Binding::shape(const Operand &operand) const {
  std::vector<int64_t> result;
  for (const Dim &dim : operand.shape)
    result.push_back((*this)(dim));
  return result;
}

bool Binding::isComplete() const {
  return std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size >= 0; });
}

Expected<Binding> bindFromSettings(const Description &description, std::span<const std::string> settings) {
  Binding binding = emptyBinding(description);
  for (const std::string &setting : settings) {
    size_t equals = setting.find('=');
    if (equals == std::string::npos)
      return Status(StatusCode::InvalidArgument,
                    "expected NAME=SIZE, such as m=128, found " + quoteJson(shorten(setting, 60)));
    std::string_view name = trimText(std::string_view(setting).substr(0, equals));
    std::string_view text = trimText(std::string_view(setting).substr(equals + 1));
    int index = description.dimIndex(name);
    if (index < 0) {
      std::vector<std::string_view> known;
      for (const SymbolicDim &dim : description.dims)
        known.push_back(dim.name);
      Status status(StatusCode::InvalidArgument, "dimension " + quoted(shorten(name, 60)) +
                                                     ": expected a dimension that a shape names, found none of it");
      std::string_view nearest = nearestName(name, known);
      return nearest.empty() ? status : std::move(status).withHint("did you mean \"" + std::string(nearest) + "\"?");
    }
    const SymbolicDim &dim = description.dims[index];
    std::optional<int64_t> size = parseInteger(text);
    if (!size)
      return Status(StatusCode::InvalidArgument, "dimension " + quoted(dim.name) + ": expected " + rangeText(dim) +
                                                     ", found " + quoteJson(shorten(text, 60)));
    TILEJIT_RETURN_IF_ERROR(checkSize(dim, *size));
    if (binding.sizes[index] >= 0 && binding.sizes[index] != *size)
      return Status(StatusCode::InvalidArgument, "dimension " + quoted(dim.name) + ": expected one size, found " +
                                                     std::to_string(binding.sizes[index]) + " and " +
                                                     std::to_string(*size));
    binding.sizes[index] = *size;
  }
  return binding;
}

Status bindFromShape(const Description &description, const Operand &operand, std::span<const int64_t> shape,
                     Binding &binding) {
  Binding next = binding;
  next.sizes.resize(description.dims.size(), -1);
  std::string name = std::string(side(description, operand)) + quoted(operand.name);
  auto mismatch = [&](const std::string &where) {
    return Status(StatusCode::InvalidArgument, name + where + ": expected shape " +
                                                   expectedShape(description, operand, next) + ", found " +
                                                   shapeText(shape));
  };
  if (shape.size() != operand.shape.size())
    return mismatch("");
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim &dim = operand.shape[i];
    if (!dim.isSymbolic() && dim.size != shape[i])
      return mismatch(", axis " + std::to_string(i));
    if (!dim.isSymbolic())
      continue;
    const SymbolicDim &symbol = description.dims[dim.symbol];
    int64_t &size = next.sizes[dim.symbol];
    if (size >= 0 && size != shape[i])
      return mismatch(", dimension " + quoted(symbol.name));
    if (!isLegal(symbol, shape[i]))
      return checkSize(symbol, shape[i]).inContext(name + " of shape " + shapeText(shape));
    size = shape[i];
  }
  binding = std::move(next);
  return Status::ok();
}

void bindRest(const Description &description, int64_t limit, Binding &binding) {
  constexpr int64_t small = 128;
  binding.sizes.resize(description.dims.size(), -1);
  for (size_t i = 0; i < description.dims.size(); ++i) {
    const SymbolicDim &dim = description.dims[i];
    int64_t unit = dim.multipleOf, most = dim.max / unit * unit, least = (dim.min + unit - 1) / unit * unit;
    int64_t &size = binding.sizes[i];
    if (size < 0)
      size = most <= limit ? most : std::clamp((std::min(small, limit) + unit - 1) / unit * unit, least, most);
  }
}

Status checkBinding(const Description &description, const Binding &binding) {
  for (size_t i = 0; i < description.dims.size(); ++i) {
    const SymbolicDim &dim = description.dims[i];
    if (i >= binding.sizes.size() || binding.sizes[i] < 0)
      return std::move(Status(StatusCode::InvalidArgument,
                              "dimension " + quoted(dim.name) + ": expected " + rangeText(dim) + ", found none"))
          .withHint("--set " + dim.name + "=SIZE gives it one");
    TILEJIT_RETURN_IF_ERROR(checkSize(dim, binding.sizes[i]));
  }
  for (const std::vector<Operand> *operands : {&description.inputs, &description.outputs})
    for (const Operand &operand : *operands)
      TILEJIT_RETURN_IF_ERROR(checkTensor(description, operand, binding));
  return description.family == Family::Reduce ? checkReduce(description, binding) : Status::ok();
}

} // namespace tilejit
