// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Little-endian bytes, independent of the machine's own order.

#include "tilejit/Base/Bytes.h"

#include <bit>

namespace tilejit {

ByteWriter &ByteWriter::raw(uint64_t value, int width) {
  for (int i = 0; i < width; ++i)
    out_ += static_cast<char>(value >> (8 * i) & 0xFF);
  return *this;
}

ByteWriter &ByteWriter::f64(double value) { return raw(std::bit_cast<uint64_t>(value), 8); }

ByteWriter &ByteWriter::text(std::string_view value) { return u64(value.size()).bytes(value); }

ByteWriter &ByteWriter::bytes(std::string_view value) {
  out_ += value;
  return *this;
}

uint64_t ByteReader::raw(int width) {
  if (left_.size() < static_cast<size_t>(width)) {
    fail();
    return 0;
  }
  uint64_t value = 0;
  for (int i = 0; i < width; ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(left_[i])) << (8 * i);
  left_.remove_prefix(width);
  return value;
}

double ByteReader::f64() { return std::bit_cast<double>(raw(8)); }

std::string_view ByteReader::text() { return bytes(u64()); }

std::string_view ByteReader::bytes(uint64_t count) {
  if (count > left_.size()) {
    fail();
    return {};
  }
  std::string_view result = left_.substr(0, count);
  left_.remove_prefix(count);
  return result;
}

uint32_t ByteReader::count(uint64_t itemBytes) {
  uint32_t number = u32();
  if (number > left_.size() / (itemBytes ? itemBytes : 1)) {
    fail();
    return 0;
  }
  return number;
}

} // namespace tilejit
