// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Element types of tensors, as descriptions spell them. Facts only: widths, classes, names, ranges. Conversions of
// values between them are in Float.h.

#ifndef TILEJIT_BASE_DTYPE_H
#define TILEJIT_BASE_DTYPE_H

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tilejit {

/// The order is part of the cache format: append only.
enum class DType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  F8E8M0,
  F4E2M1,
  I64,
  I32,
  I16,
  I8,
  I4,
  U8,
  U4,
  Bool,
};

/// All types, in the order of the enumeration.
std::span<const DType> allDTypes();
/// "f32", "bf16", "f8e4m3fn", "bool", ...
std::string_view dtypeName(DType dtype);
/// The type of a name; nothing for an unknown one (names are case sensitive).
std::optional<DType> parseDType(std::string_view name);

/// Width of a value in bits: 4 for i4, u4 and f4e2m1, 8 for bool.
int bitWidth(DType dtype);
/// Bytes of one element in host memory and in files. Types of 4 bits take a byte each.
int storageBytes(DType dtype);
bool isFloat(DType dtype);
/// True for i4 to i64, u4 and u8; not for bool.
bool isInteger(DType dtype);
/// True for u4, u8 and bool.
bool isUnsigned(DType dtype);
/// Smallest and largest value of an integer type or bool.
int64_t minValue(DType dtype);
int64_t maxValue(DType dtype);
/// Significand bits with the hidden one: 24 for f32, 53 for f64, 8 for bf16, 0 for what is no float.
int precisionBits(DType dtype);

} // namespace tilejit

#endif // TILEJIT_BASE_DTYPE_H
