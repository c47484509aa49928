// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The table of element types.

#include "tilejit/Base/DType.h"

#include <array>
#include <cstddef>

namespace tilejit {
namespace {

struct Row {
  std::string_view name;
  int bits;
  int precision; ///< Significand bits with the hidden one; 0: no float.
  bool isUnsigned;
};

constexpr std::array<Row, 18> rows{{
    {"f64", 64, 53, false},
    {"f32", 32, 24, false},
    {"f16", 16, 11, false},
    {"bf16", 16, 8, false},
    {"f8e4m3fn", 8, 4, false},
    {"f8e5m2", 8, 3, false},
    {"f8e4m3fnuz", 8, 4, false},
    {"f8e5m2fnuz", 8, 3, false},
    {"f8e8m0", 8, 1, false},
    {"f4e2m1", 4, 2, false},
    {"i64", 64, 0, false},
    {"i32", 32, 0, false},
    {"i16", 16, 0, false},
    {"i8", 8, 0, false},
    {"i4", 4, 0, false},
    {"u8", 8, 0, true},
    {"u4", 4, 0, true},
    {"bool", 8, 0, true},
}};

constexpr std::array<DType, rows.size()> types = [] {
  std::array<DType, rows.size()> all{};
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<DType>(i);
  return all;
}();

const Row &row(DType dtype) { return rows[static_cast<size_t>(dtype)]; }

} // namespace

std::span<const DType> allDTypes() { return types; }

std::string_view dtypeName(DType dtype) { return row(dtype).name; }

std::optional<DType> parseDType(std::string_view name) {
  for (DType dtype : types)
    if (row(dtype).name == name)
      return dtype;
  return std::nullopt;
}

int bitWidth(DType dtype) { return row(dtype).bits; }

int storageBytes(DType dtype) { return (row(dtype).bits + 7) / 8; }

bool isFloat(DType dtype) { return row(dtype).precision > 0; }

bool isInteger(DType dtype) { return !isFloat(dtype) && dtype != DType::Bool; }

bool isUnsigned(DType dtype) { return row(dtype).isUnsigned; }

int64_t minValue(DType dtype) {
  if (isUnsigned(dtype))
    return 0;
  return static_cast<int64_t>(~uint64_t{0} << (bitWidth(dtype) - 1));
}

int64_t maxValue(DType dtype) {
  if (dtype == DType::Bool)
    return 1;
  int bits = isUnsigned(dtype) ? bitWidth(dtype) : bitWidth(dtype) - 1;
  return static_cast<int64_t>((uint64_t{1} << bits) - 1);
}

int precisionBits(DType dtype) { return row(dtype).precision; }

} // namespace tilejit
