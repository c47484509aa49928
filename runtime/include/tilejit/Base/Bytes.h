// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Little-endian, length-prefixed bytes: what cache entries, key material and worker messages are written in. A reader
// checks every length against what is left and never allocates more than its input is long; after a failure it stays
// failed and gives zeros, so that callers may check once at the end.

#ifndef TILEJIT_BASE_BYTES_H
#define TILEJIT_BASE_BYTES_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tilejit {

class ByteWriter {
public:
  ByteWriter &u8(uint8_t value) { return raw(value, 1); }
  ByteWriter &u32(uint32_t value) { return raw(value, 4); }
  ByteWriter &u64(uint64_t value) { return raw(value, 8); }
  ByteWriter &i64(int64_t value) { return raw(static_cast<uint64_t>(value), 8); }
  ByteWriter &f64(double value);
  /// Eight bytes of length, then the bytes.
  ByteWriter &text(std::string_view value);
  ByteWriter &bytes(std::string_view value);

  const std::string &result() const & { return out_; }
  std::string result() && { return std::move(out_); }

private:
  ByteWriter &raw(uint64_t value, int width);
  std::string out_;
};

class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  uint8_t u8() { return static_cast<uint8_t>(raw(1)); }
  uint32_t u32() { return static_cast<uint32_t>(raw(4)); }
  uint64_t u64() { return raw(8); }
  int64_t i64() { return static_cast<int64_t>(raw(8)); }
  double f64();
  /// A view into the input.
  std::string_view text();
  std::string_view bytes(uint64_t count);
  /// A count of items that take at least `itemBytes` each: fails where so many can't be left.
  uint32_t count(uint64_t itemBytes);

  void fail() { failed_ = true, left_ = {}; }
  bool failed() const { return failed_; }
  bool atEnd() const { return left_.empty(); }
  /// True where everything was read and nothing is left.
  bool finished() const { return !failed_ && left_.empty(); }
  std::string_view rest() const { return left_; }

private:
  uint64_t raw(int width);
  std::string_view left_;
  bool failed_ = false;
};

} // namespace tilejit

#endif // TILEJIT_BASE_BYTES_H
