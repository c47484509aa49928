// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A small JSON: values that remember where they stood in their text, a strict bounded reader, and a compact writer.
// The reader takes RFC 8259 literally and a little less: no comments, no NaN, no byte order mark, no duplicate keys, no
// lone surrogates, valid UTF-8 only. It never recurses deeper than its limit and never throws.

#ifndef TILEJIT_BASE_JSON_H
#define TILEJIT_BASE_JSON_H

#include "tilejit/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilejit::json {

enum class Kind : uint8_t { Null, Bool, Number, Text, Array, Object };

struct Member;

/// A value; which fields mean something depends on the kind. Members keep the order of the text.
struct Value {
  Kind kind = Kind::Null;
  bool boolean = false;
  bool isInteger = false; ///< The number was written as an integer and fits int64; `integer` is exact then.
  int64_t integer = 0;
  double number = 0; ///< Nearest double, for integers too.
  std::string text;
  std::vector<Value> items;
  std::vector<Member> members;
  size_t offset = 0; ///< Where the value begins in its text, in bytes.

  Value();
  Value(const Value &);
  Value(Value &&) noexcept;
  Value &operator=(const Value &);
  Value &operator=(Value &&) noexcept;
  ~Value();

  bool isObject() const { return kind == Kind::Object; }
  bool isArray() const { return kind == Kind::Array; }
  bool isText() const { return kind == Kind::Text; }
  bool isNumber() const { return kind == Kind::Number; }
  bool isBool() const { return kind == Kind::Bool; }

  /// The member of an object; null where there is none.
  const Value *find(std::string_view key) const;
  /// Adds a member to an object that has none of this key.
  Value &add(std::string key, Value value);
};

struct Member {
  std::string key;
  Value value;
  size_t offset = 0; ///< Where the key begins in its text.
};

/// Values for the writer.
Value makeBool(bool value);
Value makeInteger(int64_t value);
Value makeNumber(double value);
Value makeText(std::string text);
Value makeArray(std::vector<Value> items = {});
Value makeObject();

struct Limits {
  size_t maxBytes = size_t{4} << 20;
  int maxDepth = 64; ///< Arrays and objects inside each other.
};

/// Reads one value that is the whole text. An error has `code` and the place `source:line:column` as its pointer; for a
/// duplicate key it is the JSON pointer of the key, and the place is in the message.
Expected<Value> parse(std::string_view text, std::string_view source, const Limits &limits = {},
                      StatusCode code = StatusCode::BadDescription);

/// Line and column of a byte offset, counted from 1; the column in characters.
std::pair<size_t, size_t> lineAndColumn(std::string_view text, size_t offset);
/// "source:line:column".
std::string placeOf(std::string_view source, std::string_view text, size_t offset);

/// One token of a JSON pointer with its slash: "/a~1b". Very long tokens are shortened and control characters escaped,
/// since pointers are for messages.
std::string pointerToken(std::string_view key);
std::string pointerToken(size_t index);

/// Compact text with the keys of objects in byte order. Integers are exact; other numbers are the shortest decimals
/// that read back as the same double.
std::string write(const Value &value);

} // namespace tilejit::json

#endif // TILEJIT_BASE_JSON_H
