// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rewriting of literals and triples, token by token. The type of a literal is the last floating-point type named before
// it on its line: LLVM prints a type before each constant, or once before the operands that share it.

#include "decode/NewerText.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace tilejit::sim {

namespace {

/// A floating-point type of the IR and how LLVM 22 writes its bits.
struct FloatType {
  std::string_view name, prefix;
  unsigned bits, mantissa;
};
constexpr FloatType types[] = {
    {"half", "0xH", 16, 10}, {"bfloat", "0xR", 16, 7}, {"float", "0x", 32, 23}, {"double", "0x", 64, 52}};
constexpr const FloatType *f32 = &types[2], *f64 = &types[3];

bool isWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}
bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Bits of a type as a literal. LLVM writes those of a float as a double with the same value.
std::string literal(const FloatType &type, uint64_t bits) {
  if (&type == f32) {
    uint64_t sign = bits >> 31 << 63, exponent = bits >> 23 & 0xff, mantissa = bits & 0x7fffff;
    bits = exponent == 0xff ? sign | 0x7ffull << 52 | mantissa << 29
                            : std::bit_cast<uint64_t>(double(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  }
  char text[24];
  std::snprintf(text, sizeof text, type.bits == 16 ? "%04llX" : "%016llX", static_cast<unsigned long long>(bits));
  return std::string(type.prefix) + text;
}

/// The bits of the type's nearest number, ties to even.
uint64_t encode(const FloatType &type, double value) {
  if (&type == f64)
    return std::bit_cast<uint64_t>(value);
  if (&type == f32)
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  int exponentBits = static_cast<int>(type.bits - 1 - type.mantissa), bias = (1 << (exponentBits - 1)) - 1;
  uint64_t sign = uint64_t(std::signbit(value)) << 15;
  int exponent = 0;
  if (value == 0)
    return sign;
  std::frexp(value, &exponent); // value = m * 2^exponent with m in [0.5, 1)
  int scale = std::max(exponent - 1, 1 - bias) - static_cast<int>(type.mantissa);
  auto steps = static_cast<uint64_t>(std::nearbyint(std::ldexp(std::fabs(value), -scale)));
  uint64_t magnitude = exponent - 1 < 1 - bias ? steps : (uint64_t(exponent - 1 + bias - 1) << type.mantissa) + steps;
  uint64_t infinity = ((1ull << exponentBits) - 1) << type.mantissa;
  return sign | std::min(magnitude, infinity);
}

class Rewriter {
public:
  explicit Rewriter(std::string_view text) : text_(text) { out_.reserve(text.size()); }

  std::string run() {
    while (at_ < text_.size()) {
      size_t end = text_.find('\n', at_);
      end = end == std::string_view::npos ? text_.size() : end + 1;
      line(end);
    }
    return std::move(out_);
  }

private:
  void copyTo(size_t end) {
    out_ += text_.substr(at_, end - at_);
    at_ = end;
  }

  void line(size_t end) {
    type_ = nullptr;
    std::string_view whole = text_.substr(at_, end - at_);
    if (whole.starts_with("target triple"))
      return triple(end);
    if (whole.starts_with('!') || whole.starts_with("source_filename"))
      return copyTo(end);
    while (at_ < end)
      token(end);
  }

  void triple(size_t end) {
    constexpr std::string_view name = "\"amdgpu";
    size_t found = text_.substr(at_, end - at_).find(name);
    if (found != std::string_view::npos) {
      size_t rest = at_ + found + name.size();
      while (rest < end && (isDigit(text_[rest]) || text_[rest] == '.' || (text_[rest] >= 'a' && text_[rest] <= 'f')))
        ++rest;
      if (rest < end && text_[rest] == '-') {
        copyTo(at_ + found);
        out_ += "\"amdgcn";
        at_ = rest;
      }
    }
    copyTo(end);
  }

  void token(size_t end) {
    char c = text_[at_];
    if (c == ';')
      return copyTo(end);
    if (c == '"') {
      size_t close = text_.find('"', at_ + 1);
      return copyTo(std::min(end, close == std::string_view::npos ? end : close + 1));
    }
    if (c == '%' || c == '@' || c == '!' || c == '#' || c == '$') {
      if (at_ + 1 < end && text_[at_ + 1] == '"')
        return copyTo(at_ + 1); // A quoted name: the string follows.
      size_t stop = at_ + 1;
      while (stop < end && (isWord(text_[stop]) || text_[stop] == '-'))
        ++stop;
      return copyTo(stop);
    }
    bool isSigned = (c == '+' || c == '-') && at_ + 1 < end && isWord(text_[at_ + 1]);
    if (!isWord(c) && !isSigned)
      return copyTo(at_ + 1);
    word(end, isSigned);
  }

  void word(size_t end, bool isSigned) {
    size_t start = at_ + isSigned, stop = start;
    while (stop < end && isWord(text_[stop]))
      ++stop;
    // The exponent of a decimal.
    bool isNumber = isDigit(text_[start]);
    if (isNumber && stop + 1 < end && text_[stop - 1] == 'e' && (text_[stop] == '+' || text_[stop] == '-'))
      for (++stop; stop < end && isDigit(text_[stop]);)
        ++stop;
    std::string_view body = text_.substr(start, stop - start);
    bool negative = isSigned && text_[at_] == '-';
    for (const FloatType &type : types)
      if (body == type.name)
        type_ = &type;
    if (body.starts_with("f0x"))
      return bits(stop, body.substr(3), negative);
    if (isSigned && (body == "inf" || body == "nan" || body == "qnan" || body == "snan"))
      return special(stop, end, body, negative);
    if (isNumber && body.find('.') != std::string_view::npos)
      return decimal(stop);
    copyTo(stop);
  }

  void replace(size_t stop, const std::string &with) {
    out_ += with;
    at_ = stop;
  }

  void bits(size_t stop, std::string_view digits, bool negative) {
    uint64_t value = 0;
    auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    const FloatType *type = type_ ? type_ : digits.size() == 8 ? f32 : digits.size() == 16 ? f64 : nullptr;
    if (error != std::errc() || last != digits.data() + digits.size() || !type || digits.size() * 4 != type->bits)
      return copyTo(stop);
    if (negative)
      value ^= 1ull << (type->bits - 1);
    replace(stop, literal(*type, value));
  }

  void special(size_t stop, size_t end, std::string_view name, bool negative) {
    if (!type_)
      return copyTo(stop);
    uint64_t exponent = ((1ull << (type_->bits - 1 - type_->mantissa)) - 1) << type_->mantissa;
    uint64_t quiet = 1ull << (type_->mantissa - 1), payload = 0;
    if (name != "inf" && stop + 3 < end && text_.substr(stop, 3) == "(0x") {
      size_t close = text_.find(')', stop);
      if (close < end) {
        std::from_chars(text_.data() + stop + 3, text_.data() + close, payload, 16);
        stop = close + 1;
      }
    }
    payload &= (quiet << 1) - 1;
    uint64_t value = exponent;
    if (name == "snan")
      value |= payload ? payload : 1;
    else if (name == "nan")
      value |= payload ? payload : quiet;
    else if (name == "qnan")
      value |= quiet | payload;
    if (negative)
      value |= 1ull << (type_->bits - 1);
    replace(stop, literal(*type_, value));
  }

  void decimal(size_t stop) {
    double value = 0;
    size_t start = at_ + (text_[at_] == '+');
    auto [last, error] = std::from_chars(text_.data() + start, text_.data() + stop, value);
    if (!type_ || type_ == f64 || error != std::errc() || last != text_.data() + stop ||
        (type_ == f32 && static_cast<double>(static_cast<float>(value)) == value))
      return copyTo(stop);
    replace(stop, literal(*type_, encode(*type_, value)));
  }

  std::string_view text_;
  std::string out_;
  size_t at_ = 0;
  const FloatType *type_ = nullptr;
};

} // namespace

std::string rewriteNewerText(std::string_view text) { return Rewriter(text).run(); }

} // namespace tilejit::sim
