// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions of elements in memory, one and many. The loops of the common types are plain enough for the compiler to
// turn into vectors; narrow formats decode by table.

#include "tilejit/Base/Float.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace tilejit {
namespace {

/// The 256 values of a format of at most 8 bits.
using Table = std::array<double, 256>;

Table makeTable(DType dtype) {
  Table table;
  uint64_t mask = (uint64_t{1} << bitWidth(dtype)) - 1;
  for (size_t code = 0; code < table.size(); ++code)
    table[code] = decodeFloat(code & mask, dtype);
  return table;
}

const Table &tableOf(DType dtype) {
  static const std::array<Table, 6> tables = {makeTable(DType::F8E4M3FN),   makeTable(DType::F8E5M2),
                                              makeTable(DType::F8E4M3FNUZ), makeTable(DType::F8E5M2FNUZ),
                                              makeTable(DType::F8E8M0),     makeTable(DType::F4E2M1)};
  return tables[static_cast<size_t>(dtype) - static_cast<size_t>(DType::F8E4M3FN)];
}

template <typename T> T read(const void *elements, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(elements) + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T> void write(void *elements, size_t index, T value) {
  std::memcpy(static_cast<char *>(elements) + index * sizeof(T), &value, sizeof(T));
}

double fromHalf(uint16_t half) {
  uint32_t magnitude = (half & 0x7fffu) << 13;
  // Scaling by a power of two puts the exponent right, for subnormals too; infinity and NaN get theirs by hand.
  float value = magnitude >= 0x0f800000u ? std::bit_cast<float>(magnitude | 0x7f800000u)
                                         : std::bit_cast<float>(magnitude) * 0x1p112f;
  return half & 0x8000 ? -value : value;
}

template <typename Value, typename From> void loadAll(std::span<Value> values, From from) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<Value>(from(i));
}

template <typename Value> void loadIntegerTypes(const void *elements, DType dtype, std::span<Value> values) {
  switch (dtype) {
  case DType::I64:
    return loadAll(values, [=](size_t i) { return read<int64_t>(elements, i); });
  case DType::I32:
    return loadAll(values, [=](size_t i) { return read<int32_t>(elements, i); });
  case DType::I16:
    return loadAll(values, [=](size_t i) { return read<int16_t>(elements, i); });
  case DType::I8:
    return loadAll(values, [=](size_t i) { return read<int8_t>(elements, i); });
  case DType::U8:
    return loadAll(values, [=](size_t i) { return read<uint8_t>(elements, i); });
  default:
    return loadAll(values, [=](size_t i) { return wrapInteger(read<uint8_t>(elements, i), dtype); });
  }
}

void storeBits(void *elements, DType dtype, size_t index, uint64_t bits) {
  switch (storageBytes(dtype)) {
  case 1:
    return write(elements, index, static_cast<uint8_t>(bits));
  case 2:
    return write(elements, index, static_cast<uint16_t>(bits));
  case 4:
    return write(elements, index, static_cast<uint32_t>(bits));
  default:
    return write(elements, index, bits);
  }
}

template <typename T> void storeAll(void *elements, std::span<const int64_t> values) {
  for (size_t i = 0; i < values.size(); ++i)
    write(elements, i, static_cast<T>(values[i]));
}

/// Rounds numbers within the normal range of a format by one addition to their bits; encodeFloat does the others.
void storeNarrow(void *elements, DType dtype, std::span<const double> values, bool saturate) {
  const FloatFormat &format = floatFormat(dtype);
  // No value is in the fast range of f8e8m0, which rounds in its own way, or f64, which has no bits to drop.
  bool isFast = dtype != DType::F8E8M0 && dtype != DType::F64;
  auto lowest = std::bit_cast<uint64_t>(std::ldexp(1.0, format.minExponent));
  uint64_t range = isFast ? std::bit_cast<uint64_t>(format.largest) - lowest : 0;
  int shift = 53 - format.precision, signShift = 64 - bitWidth(dtype);
  uint64_t half = isFast ? (uint64_t{1} << (shift - 1)) - 1 : 0;
  uint64_t bias = static_cast<uint64_t>(format.minExponent + 1022) << (format.precision - 1);
  for (size_t i = 0; i < values.size(); ++i) {
    auto bits = std::bit_cast<uint64_t>(values[i]);
    uint64_t magnitude = bits & ~(uint64_t{1} << 63), sign = (bits ^ magnitude) >> signShift;
    uint64_t code = isFast && magnitude - lowest <= range
                        ? (((magnitude + half + (magnitude >> shift & 1)) >> shift) - bias) | sign
                        : encodeFloat(values[i], dtype, saturate);
    storeBits(elements, dtype, i, code);
  }
}

} // namespace

void loadDoubles(const void *elements, DType dtype, std::span<double> values) {
  switch (dtype) {
  case DType::F64:
    if (!values.empty())
      std::memcpy(values.data(), elements, values.size_bytes());
    return;
  case DType::F32:
    return loadAll(values, [=](size_t i) { return read<float>(elements, i); });
  case DType::BF16:
    return loadAll(values, [=](size_t i) {
      return std::bit_cast<float>(static_cast<uint32_t>(read<uint16_t>(elements, i)) << 16);
    });
  case DType::F16:
    return loadAll(values, [=](size_t i) { return fromHalf(read<uint16_t>(elements, i)); });
  default:
    break;
  }
  if (!isFloat(dtype))
    return loadIntegerTypes(elements, dtype, values);
  const Table &table = tableOf(dtype);
  loadAll(values, [&](size_t i) { return table[read<uint8_t>(elements, i)]; });
}

void loadIntegers(const void *elements, DType dtype, std::span<int64_t> values) {
  loadIntegerTypes(elements, dtype, values);
}

void storeDoubles(void *elements, DType dtype, std::span<const double> values, bool saturate) {
  if (dtype == DType::F64 && !saturate) {
    if (!values.empty())
      std::memcpy(elements, values.data(), values.size_bytes());
  } else if (dtype == DType::F32 && !saturate) {
    for (size_t i = 0; i < values.size(); ++i)
      write(elements, i, static_cast<float>(values[i]));
  } else if (isFloat(dtype)) {
    storeNarrow(elements, dtype, values, saturate);
  } else {
    for (size_t i = 0; i < values.size(); ++i)
      storeBits(elements, dtype, i, static_cast<uint64_t>(floatToInteger(values[i], dtype)));
  }
}

void storeIntegers(void *elements, DType dtype, std::span<const int64_t> values) {
  if (isFloat(dtype)) {
    for (size_t i = 0; i < values.size(); ++i)
      storeBits(elements, dtype, i, encodeFloat(integerToFloat(values[i], dtype), dtype));
    return;
  }
  switch (dtype) {
  case DType::I64:
    return storeAll<int64_t>(elements, values);
  case DType::I32:
    return storeAll<int32_t>(elements, values);
  case DType::I16:
    return storeAll<int16_t>(elements, values);
  case DType::I8:
  case DType::U8:
    return storeAll<int8_t>(elements, values);
  default:
    for (size_t i = 0; i < values.size(); ++i)
      write(elements, i, static_cast<int8_t>(wrapInteger(values[i], dtype)));
  }
}

double loadAsDouble(const void *element, DType dtype) {
  double value;
  loadDoubles(element, dtype, {&value, 1});
  return value;
}

int64_t loadAsInteger(const void *element, DType dtype) {
  int64_t value;
  loadIntegers(element, dtype, {&value, 1});
  return value;
}

void storeDouble(void *element, DType dtype, double value, bool saturate) {
  storeDoubles(element, dtype, {&value, 1}, saturate);
}

void storeInteger(void *element, DType dtype, int64_t value) { storeIntegers(element, dtype, {&value, 1}); }

void convertElements(const void *from, DType fromType, void *to, DType toType, size_t count, bool saturate) {
  constexpr size_t chunk = 1024;
  const char *source = static_cast<const char *>(from);
  char *target = static_cast<char *>(to);
  for (size_t start = 0; start < count; start += chunk) {
    size_t n = std::min(chunk, count - start);
    const char *sourceChunk = source + start * static_cast<size_t>(storageBytes(fromType));
    char *targetChunk = target + start * static_cast<size_t>(storageBytes(toType));
    if (isFloat(fromType)) {
      std::array<double, chunk> values;
      loadDoubles(sourceChunk, fromType, std::span(values).first(n));
      storeDoubles(targetChunk, toType, std::span(values).first(n), saturate);
    } else {
      std::array<int64_t, chunk> values;
      loadIntegers(sourceChunk, fromType, std::span(values).first(n));
      if (saturate && isFloat(toType))
        for (size_t i = 0; i < n; ++i)
          storeDouble(targetChunk + i * static_cast<size_t>(storageBytes(toType)), toType,
                      integerToFloat(values[i], toType), true);
      else
        storeIntegers(targetChunk, toType, std::span(values).first(n));
    }
  }
}

} // namespace tilejit
