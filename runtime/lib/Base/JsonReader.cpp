// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The strict JSON reader: recursive descent with its depth counted, so that hostile nesting ends in a message. Every
// byte is looked at once; the first fault ends the reading.

#include "tilejit/Base/Json.h"
#include "tilejit/Base/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace tilejit::json {
namespace {

/// Length of the valid UTF-8 sequence at the start of `bytes`; 0 where there is none.
size_t utf8Length(std::string_view bytes) {
  auto at = [&](size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
  auto follows = [&](size_t i) { return (at(i) & 0xc0) == 0x80; };
  unsigned first = at(0);
  if (first < 0x80)
    return bytes.empty() ? 0 : 1;
  if (first >= 0xc2 && first < 0xe0)
    return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    bool overlong = first == 0xe0 && at(1) < 0xa0, surrogate = first == 0xed && at(1) >= 0xa0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    bool overlong = first == 0xf0 && at(1) < 0x90, tooLarge = first == 0xf4 && at(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !tooLarge ? 4 : 0;
  }
  return 0;
}

void appendUtf8(uint32_t code, std::string &out) {
  auto push = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    push(code);
  } else if (code < 0x800) {
    push(0xc0 | code >> 6);
    push(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    push(0xe0 | code >> 12);
    push(0x80 | (code >> 6 & 0x3f));
    push(0x80 | (code & 0x3f));
  } else {
    push(0xf0 | code >> 18);
    push(0x80 | (code >> 12 & 0x3f));
    push(0x80 | (code >> 6 & 0x3f));
    push(0x80 | (code & 0x3f));
  }
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Reader {
public:
  Reader(std::string_view text, std::string_view source, const Limits &limits, StatusCode code)
      : text_(text), source_(source), limits_(limits), code_(code) {}

  Expected<Value> whole() {
    if (text_.substr(0, 3) == "\xef\xbb\xbf")
      return fault("expected JSON without a byte order mark");
    Value value;
    TILEJIT_RETURN_IF_ERROR(readValue(value, 0));
    skipBlanks();
    if (place_ < text_.size())
      return fault("expected the end of the text, found " + found());
    return value;
  }

private:
  Status faultAt(size_t offset, std::string message) const {
    return Status(code_, std::move(message)).at(placeOf(shorten(source_, 200), text_, offset));
  }
  Status fault(std::string message) const { return faultAt(place_, std::move(message)); }

  /// What stands at the current place, for messages.
  std::string found() const {
    if (place_ >= text_.size())
      return text_.find_first_not_of(" \t\r\n") == std::string_view::npos ? "an empty text" : "the end of the text";
    size_t length = utf8Length(text_.substr(place_));
    if (length == 0)
      return "a byte that is not valid UTF-8";
    return '\'' + shorten(text_.substr(place_, length), 20) + '\'';
  }

  char peek() const { return place_ < text_.size() ? text_[place_] : '\0'; }
  bool atEnd() const { return place_ >= text_.size(); }

  void skipBlanks() {
    while (!atEnd() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r'))
      ++place_;
  }

  Status readValue(Value &value, int depth) {
    skipBlanks();
    value.offset = place_;
    switch (peek()) {
    case '{':
    case '[':
      if (depth >= limits_.maxDepth)
        return fault("expected at most " + std::to_string(limits_.maxDepth) + " levels of nesting, found more");
      return peek() == '{' ? readObject(value, depth) : readArray(value, depth);
    case '"':
      value.kind = Kind::Text;
      return readText(value.text);
    case 't':
      value.boolean = true;
      return readWord("true", Kind::Bool, value);
    case 'f':
      return readWord("false", Kind::Bool, value);
    case 'n':
      return readWord("null", Kind::Null, value);
    default:
      if (!atEnd() && (peek() == '-' || isDigit(peek())))
        return readNumber(value);
      return fault("expected a JSON value, found " + found());
    }
  }

  Status readWord(std::string_view word, Kind kind, Value &value) {
    if (text_.substr(place_, word.size()) != word)
      return fault("expected a JSON value, found " + found());
    place_ += word.size();
    value.kind = kind;
    return Status::ok();
  }

  Status readArray(Value &value, int depth) {
    value.kind = Kind::Array;
    ++place_;
    skipBlanks();
    if (peek() == ']') {
      ++place_;
      return Status::ok();
    }
    for (size_t index = 0;; ++index) {
      path_.push_back({nullptr, index});
      TILEJIT_RETURN_IF_ERROR(readValue(value.items.emplace_back(), depth + 1));
      path_.pop_back();
      skipBlanks();
      char next = peek();
      if (next != ',' && next != ']')
        return fault("expected ',' or ']', found " + found());
      ++place_;
      if (next == ']')
        return Status::ok();
    }
  }

  Status readObject(Value &value, int depth) {
    value.kind = Kind::Object;
    ++place_;
    skipBlanks();
    if (peek() == '}') {
      ++place_;
      return Status::ok();
    }
    while (true) {
      skipBlanks();
      Member &member = value.members.emplace_back();
      TILEJIT_RETURN_IF_ERROR(readMember(member, depth));
      skipBlanks();
      char next = peek();
      if (next != ',' && next != '}')
        return fault("expected ',' or '}', found " + found());
      ++place_;
      if (next == '}')
        return refuseDuplicates(value);
    }
  }

  Status readMember(Member &member, int depth) {
    member.offset = place_;
    if (peek() != '"')
      return fault("expected a key in double quotes, found " + found());
    TILEJIT_RETURN_IF_ERROR(readText(member.key));
    skipBlanks();
    if (peek() != ':')
      return fault("expected ':' after the key " + quoteJson(shorten(member.key, 60)) + ", found " + found());
    ++place_;
    path_.push_back({&member.key, 0});
    TILEJIT_RETURN_IF_ERROR(readValue(member.value, depth + 1));
    path_.pop_back();
    return Status::ok();
  }

  Status refuseDuplicates(const Value &object) const {
    std::vector<const Member *> sorted;
    sorted.reserve(object.members.size());
    for (const Member &member : object.members)
      sorted.push_back(&member);
    std::sort(sorted.begin(), sorted.end(), [](const Member *a, const Member *b) {
      return a->key != b->key ? a->key < b->key : a->offset < b->offset;
    });
    for (size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i]->key == sorted[i - 1]->key)
        return Status(code_, "expected each key once, found " + quoteJson(shorten(sorted[i]->key, 60)) + " again at " +
                                 placeOf(shorten(source_, 100), text_, sorted[i]->offset))
            .at(pointer() + pointerToken(sorted[i]->key));
    return Status::ok();
  }

  /// The JSON pointer of the value that is being read.
  std::string pointer() const {
    std::string text;
    for (const Step &step : path_)
      text += step.key ? pointerToken(*step.key) : pointerToken(step.index);
    return text;
  }

  Status readText(std::string &out) {
    size_t start = place_++;
    while (true) {
      if (atEnd())
        return faultAt(start, "expected a closing quote, found the end of the text");
      char c = peek();
      if (c == '"') {
        ++place_;
        return Status::ok();
      }
      if (static_cast<unsigned char>(c) < 0x20)
        return fault("expected no control characters in a string, found " + found());
      if (c == '\\') {
        TILEJIT_RETURN_IF_ERROR(readEscape(out));
        continue;
      }
      size_t length = utf8Length(text_.substr(place_));
      if (length == 0)
        return fault("expected UTF-8, found " + found());
      out.append(text_.substr(place_, length));
      place_ += length;
    }
  }

  Status readEscape(std::string &out) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    char letter = place_ + 1 < text_.size() ? text_[place_ + 1] : '\0';
    if (letter == 'u')
      return readUnicodeEscape(out);
    size_t which = letter ? letters.find(letter) : std::string_view::npos;
    if (which == std::string_view::npos)
      return fault("expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found another escape");
    out += meanings[which];
    place_ += 2;
    return Status::ok();
  }

  /// Four hexadecimal digits after a \u at `offset`.
  std::optional<uint32_t> hexAt(size_t offset) const {
    if (text_.substr(offset, 2) != "\\u" || offset + 6 > text_.size())
      return std::nullopt;
    const char *first = text_.data() + offset + 2;
    uint32_t code = 0;
    auto result = std::from_chars(first, first + 4, code, 16);
    return result.ptr == first + 4 ? std::optional(code) : std::nullopt;
  }

  Status readUnicodeEscape(std::string &out) {
    std::optional<uint32_t> code = hexAt(place_);
    if (!code)
      return fault("expected four hexadecimal digits after \\u");
    size_t length = 6;
    if (*code >= 0xd800 && *code < 0xe000) {
      std::optional<uint32_t> low = hexAt(place_ + 6);
      if (*code >= 0xdc00 || !low || *low < 0xdc00 || *low >= 0xe000)
        return fault("expected a pair of surrogates, found a lone one");
      code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
      length = 12;
    }
    appendUtf8(*code, out);
    place_ += length;
    return Status::ok();
  }

  size_t digitsFrom(size_t place) const {
    while (place < text_.size() && isDigit(text_[place]))
      ++place;
    return place;
  }

  Status readNumber(Value &value) {
    size_t whole = place_ + (peek() == '-'), end = digitsFrom(whole);
    bool integral = true, wellFormed = end > whole && !(text_[whole] == '0' && end > whole + 1);
    if (end < text_.size() && text_[end] == '.') {
      size_t fraction = end + 1;
      end = digitsFrom(fraction);
      integral = false;
      wellFormed &= end > fraction;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-'))
        ++exponent;
      end = digitsFrom(exponent);
      integral = false;
      wellFormed &= end > exponent;
    }
    std::string_view digits = text_.substr(place_, end - place_);
    if (!wellFormed)
      return fault("expected a number as JSON writes it, found " + shorten(digits, 40));
    value.kind = Kind::Number;
    const char *first = digits.data(), *last = first + digits.size();
    value.isInteger = integral && std::from_chars(first, last, value.integer).ec == std::errc();
    if (std::from_chars(first, last, value.number).ec != std::errc())
      return fault("expected a number within the range of f64, found " + shorten(digits, 40));
    place_ = end;
    return Status::ok();
  }

  std::string_view text_, source_;
  Limits limits_;
  StatusCode code_;
  size_t place_ = 0;

  struct Step {
    const std::string *key; ///< Null: an item of an array.
    size_t index;
  };
  std::vector<Step> path_;
};

} // namespace

Expected<Value> parse(std::string_view text, std::string_view source, const Limits &limits, StatusCode code) {
  if (text.size() > limits.maxBytes)
    return Status(code, "expected at most " + std::to_string(limits.maxBytes) + " bytes of text, found " +
                            std::to_string(text.size()))
        .at(std::string(source));
  return Reader(text, source, limits, code).whole();
}

} // namespace tilejit::json
