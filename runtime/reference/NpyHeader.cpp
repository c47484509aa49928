// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The header of .npy files: magic, version, length, and a Python dictionary of three keys. The parser knows just this
// dictionary: strings without escapes, True and False, tuples of non-negative integers.

#include "tilejit/Reference/Npy.h"

#include <array>
#include <cctype>

namespace tilejit {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr int rankLimit = 16;
constexpr int64_t sizeLimit = int64_t{1} << 40;
/// NumPy itself needs below 200 bytes for anything that this format can hold.
constexpr size_t headerLimit = 64 * 1024;

Status bad(std::string message) { return Status(StatusCode::InvalidArgument, std::move(message)); }

/// Text from a file, fit for a message: short, printable.
std::string quoted(std::string_view text) {
  constexpr size_t limit = 40;
  std::string result = "'";
  for (char c : text.substr(0, limit))
    result += c >= 0x20 && c < 0x7f ? c : '?';
  return result + (text.size() > limit ? "...'" : "'");
}

/// The dictionary's three values, in any order.
class DictionaryParser {
public:
  explicit DictionaryParser(std::string_view text) : text_(text) {}

  Status parse(NpyHeader &header) {
    if (!take('{'))
      return bad("its header is no dictionary but " + quoted(text_));
    while (!take('}')) {
      TILEJIT_RETURN_IF_ERROR(entry(header));
      if (!take(',') && !peek('}'))
        return bad("its header lacks a ',' or '}' before " + quoted(rest()));
    }
    skipSpace();
    if (place_ != text_.size())
      return bad("its header goes on after the dictionary: " + quoted(rest()));
    for (size_t i = 0; i < seen_.size(); ++i)
      if (!seen_[i])
        return bad("its header lacks the key '" + std::string(keys[i]) + "'");
    return Status::ok();
  }

private:
  static constexpr std::array<std::string_view, 3> keys{"descr", "fortran_order", "shape"};

  std::string_view rest() const { return text_.substr(place_); }

  void skipSpace() {
    while (place_ < text_.size() && (text_[place_] == ' ' || text_[place_] == '\n' || text_[place_] == '\t'))
      ++place_;
  }

  bool peek(char c) {
    skipSpace();
    return place_ < text_.size() && text_[place_] == c;
  }

  bool take(char c) {
    if (!peek(c))
      return false;
    ++place_;
    return true;
  }

  bool takeWord(std::string_view word) {
    skipSpace();
    if (!rest().starts_with(word))
      return false;
    place_ += word.size();
    return true;
  }

  std::optional<std::string_view> string() {
    skipSpace();
    if (place_ == text_.size() || (text_[place_] != '\'' && text_[place_] != '"'))
      return std::nullopt;
    size_t end = text_.find(text_[place_], place_ + 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string_view value = text_.substr(place_ + 1, end - place_ - 1);
    if (value.find_first_of("\\\n") != std::string_view::npos)
      return std::nullopt;
    place_ = end + 1;
    return value;
  }

  Status entry(NpyHeader &header) {
    std::optional<std::string_view> key = string();
    if (!key || !take(':'))
      return bad("its header has no key at " + quoted(rest()));
    for (size_t i = 0; i < keys.size(); ++i) {
      if (*key != keys[i])
        continue;
      if (seen_[i])
        return bad("its header has the key " + quoted(*key) + " twice");
      seen_[i] = true;
      return i == 0 ? descr(header) : i == 1 ? order(header) : shape(header);
    }
    return bad("its header has an unknown key " + quoted(*key));
  }

  Status descr(NpyHeader &header) {
    std::optional<std::string_view> value = string();
    if (!value)
      return bad("its dtype is no plain type but " + quoted(rest()));
    header.descr = *value;
    return Status::ok();
  }

  Status order(NpyHeader &header) {
    header.fortranOrder = takeWord("True");
    if (!header.fortranOrder && !takeWord("False"))
      return bad("fortran_order is neither True nor False but " + quoted(rest()));
    return Status::ok();
  }

  Status shape(NpyHeader &header) {
    if (!take('('))
      return bad("its shape is no tuple but " + quoted(rest()));
    while (!take(')')) {
      std::optional<int64_t> size = number();
      if (!size)
        return bad("its shape holds something else than sizes from 0 to 2^40: " + quoted(rest()));
      if (header.shape.size() == rankLimit)
        return bad("its shape has more than " + std::to_string(rankLimit) + " dimensions");
      header.shape.push_back(*size);
      if (!take(',') && (header.shape.size() == 1 || !peek(')')))
        return bad("its shape is no tuple at " + quoted(rest()));
    }
    return Status::ok();
  }

  std::optional<int64_t> number() {
    skipSpace();
    size_t start = place_;
    int64_t value = 0;
    while (place_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[place_]))) {
      value = value * 10 + (text_[place_] - '0');
      if (value > sizeLimit) {
        place_ = start;
        return std::nullopt;
      }
      ++place_;
    }
    if (place_ == start)
      return std::nullopt;
    // Python 2 wrote long integers with an L.
    if (place_ < text_.size() && text_[place_] == 'L')
      ++place_;
    return value;
  }

  std::string_view text_;
  size_t place_ = 0;
  std::array<bool, 3> seen_{};
};

} // namespace

Expected<NpyHeader> parseNpyHeader(std::string_view bytes) {
  if (!bytes.starts_with(magic))
    return bad(bytes.empty() ? "it is empty, expected a .npy file" : "it does not begin like a .npy file");
  if (bytes.size() < 10)
    return bad("it ends within its header");
  auto byteAt = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(bytes[i])); };
  size_t major = byteAt(6);
  if (major < 1 || major > 3 || byteAt(7) != 0)
    return bad("it has version " + std::to_string(major) + "." + std::to_string(byteAt(7)) +
               " of the .npy format, expected 1.0, 2.0 or 3.0");
  size_t start = major == 1 ? 10 : 12;
  if (bytes.size() < start)
    return bad("it ends within its header");
  size_t length = byteAt(8) | byteAt(9) << 8;
  if (major > 1)
    length |= byteAt(10) << 16 | byteAt(11) << 24;
  if (length > headerLimit)
    return bad("its header claims " + std::to_string(length) + " bytes, expected at most " +
               std::to_string(headerLimit));
  if (bytes.size() < start + length)
    return bad("it ends within its header: " + std::to_string(bytes.size()) + " bytes, the header needs " +
               std::to_string(start + length));
  NpyHeader header;
  header.dataOffset = static_cast<int64_t>(start + length);
  TILEJIT_RETURN_IF_ERROR(DictionaryParser(bytes.substr(start, length)).parse(header));
  return header;
}

namespace {

/// Letter and width of NumPy's own types; 'V' for those that it lacks.
std::string_view plainSpelling(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return "f8";
  case DType::F32:
    return "f4";
  case DType::F16:
    return "f2";
  case DType::I64:
    return "i8";
  case DType::I32:
    return "i4";
  case DType::I16:
    return "i2";
  case DType::I8:
  case DType::I4:
    return "i1";
  case DType::U8:
  case DType::U4:
    return "u1";
  case DType::Bool:
    return "b1";
  case DType::BF16:
    return "V2";
  default:
    return "V1";
  }
}

} // namespace

bool npySpellingFits(std::string_view descr, DType dtype) {
  // An absent byte order, '=' and '|' all mean: as it is. '>' is fine where there is only one byte.
  std::string_view type = descr;
  char order = '<';
  if (!descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos) {
    order = descr[0];
    type = descr.substr(1);
  }
  if (order == '>' && storageBytes(dtype) > 1)
    return false;
  if (order == '|' && storageBytes(dtype) > 1 && dtype != DType::BF16)
    return false;
  if (type == plainSpelling(dtype) || (dtype == DType::Bool && type == "?"))
    return true;
  switch (dtype) {
  case DType::BF16:
    return type == "u2";
  case DType::I4:
  case DType::U4:
    return type == "V1";
  case DType::F8E5M2:
    return type == "f1" || type == "u1";
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0:
  case DType::F4E2M1:
    return type == "u1";
  default:
    return false;
  }
}

std::string_view npySpelling(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return "<f8";
  case DType::F32:
    return "<f4";
  case DType::F16:
    return "<f2";
  case DType::BF16:
    return "<V2";
  case DType::F8E5M2:
    return "<f1";
  case DType::I64:
    return "<i8";
  case DType::I32:
    return "<i4";
  case DType::I16:
    return "<i2";
  case DType::I8:
  case DType::I4:
    return "|i1";
  case DType::U8:
  case DType::U4:
    return "|u1";
  case DType::Bool:
    return "|b1";
  default:
    return "<V1";
  }
}

} // namespace tilejit
