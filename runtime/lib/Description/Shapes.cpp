// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Arithmetic on shapes. Nothing here overflows: products are compared with their limit before they are formed.

#include "Shapes.h"

#include <algorithm>

namespace tilejit {

bool isName(std::string_view text) {
  auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || text.size() > maxNameLength || !isLetter(text[0]))
    return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

std::string dimText(const Description &description, const Dim &dim) {
  return dim.isSymbolic() ? description.dims[dim.symbol].name : std::to_string(dim.size);
}

std::string shapeText(const Description &description, const std::vector<Dim> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + dimText(description, shape[i]);
  return text + ']';
}

std::string shapeText(std::span<const int64_t> sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + ']';
}

std::optional<Dim> broadcastDim(const Dim &a, const Dim &b) {
  Dim one{1, -1};
  if (a == b || b == one)
    return a;
  if (a == one)
    return b;
  return std::nullopt;
}

std::optional<std::vector<Dim>> broadcastShapes(const std::vector<Dim> &a, const std::vector<Dim> &b) {
  const std::vector<Dim> &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  std::vector<Dim> result = longer;
  size_t shift = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    std::optional<Dim> dim = broadcastDim(longer[shift + i], shorter[i]);
    if (!dim)
      return std::nullopt;
    result[shift + i] = *dim;
  }
  return result;
}

std::optional<int64_t> boundedBytes(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t bytes) {
  int64_t most = maxTensorBytes / bytes, elements = 1;
  for (int64_t size : sizes) {
    int64_t counted = std::max<int64_t>(size, 1);
    if (elements > most / counted)
      return std::nullopt;
    elements *= counted;
  }
  int64_t extent = 1;
  for (size_t i = 0; i < strides.size(); ++i) {
    int64_t steps = std::max<int64_t>(sizes[i], 1) - 1, stride = std::max<int64_t>(strides[i], 0);
    if (steps > 0 && stride > (most - extent) / steps)
      return std::nullopt;
    extent += steps * stride;
  }
  return elements * bytes;
}

bool mayOverlap(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  std::vector<std::pair<int64_t, int64_t>> steps; // stride, size
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0)
      return false;
    if (sizes[i] > 1)
      steps.emplace_back(strides[i], sizes[i]);
  }
  std::sort(steps.begin(), steps.end());
  int64_t reach = 0; // The furthest element that the smaller strides reach.
  for (auto [stride, size] : steps) {
    if (stride <= reach)
      return true;
    reach += stride * (size - 1);
  }
  return false;
}

std::optional<std::vector<Stride>> denseStrides(const std::vector<Dim> &shape) {
  std::vector<Stride> strides(shape.size());
  int64_t constant = 1;
  int32_t symbol = -1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (symbol >= 0 && constant != 1)
      return std::nullopt;
    strides[i] = symbol >= 0 ? Stride{Stride::Kind::Symbol, symbol} : Stride{Stride::Kind::Constant, constant};
    if (shape[i].isSymbolic() && i > 0) {
      if (symbol >= 0)
        return std::nullopt;
      symbol = shape[i].symbol;
    } else if (!shape[i].isSymbolic()) {
      constant *= std::max<int64_t>(shape[i].size, 1);
    }
  }
  return strides;
}

} // namespace tilejit
