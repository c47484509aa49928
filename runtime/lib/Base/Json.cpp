// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// JSON values and the writer. The reader is in JsonReader.cpp.

#include "tilejit/Base/Json.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tilejit::json {

Value::Value() = default;
Value::Value(const Value &) = default;
Value::Value(Value &&) noexcept = default;
Value &Value::operator=(const Value &) = default;
Value &Value::operator=(Value &&) noexcept = default;
Value::~Value() = default;

const Value *Value::find(std::string_view key) const {
  for (const Member &member : members)
    if (member.key == key)
      return &member.value;
  return nullptr;
}

Value &Value::add(std::string key, Value value) {
  members.push_back({std::move(key), std::move(value), 0});
  return members.back().value;
}

Value makeBool(bool boolean) {
  Value value;
  value.kind = Kind::Bool;
  value.boolean = boolean;
  return value;
}

Value makeInteger(int64_t integer) {
  Value value;
  value.kind = Kind::Number;
  value.isInteger = true;
  value.integer = integer;
  value.number = static_cast<double>(integer);
  return value;
}

Value makeNumber(double number) {
  Value value;
  value.kind = Kind::Number;
  value.number = number;
  return value;
}

Value makeText(std::string text) {
  Value value;
  value.kind = Kind::Text;
  value.text = std::move(text);
  return value;
}

Value makeArray(std::vector<Value> items) {
  Value value;
  value.kind = Kind::Array;
  value.items = std::move(items);
  return value;
}

Value makeObject() {
  Value value;
  value.kind = Kind::Object;
  return value;
}

std::pair<size_t, size_t> lineAndColumn(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  size_t line = 1, start = 0;
  for (size_t i = 0; i < offset; ++i)
    if (text[i] == '\n') {
      ++line;
      start = i + 1;
    }
  size_t column = 1;
  for (size_t i = start; i < offset; ++i)
    column += (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
  return {line, column};
}

std::string placeOf(std::string_view source, std::string_view text, size_t offset) {
  auto [line, column] = lineAndColumn(text, offset);
  return std::string(source) + ':' + std::to_string(line) + ':' + std::to_string(column);
}

std::string pointerToken(std::string_view key) {
  std::string token = "/";
  for (char c : shorten(key, 128)) {
    if (c == '~')
      token += "~0";
    else if (c == '/')
      token += "~1";
    else
      token += c;
  }
  return token;
}

std::string pointerToken(size_t index) { return '/' + std::to_string(index); }

namespace {

template <typename T> void writeNumber(T number, std::string &out) {
  std::array<char, 64> buffer;
  auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  out.append(buffer.data(), result.ptr);
}

void writeTo(const Value &value, std::string &out);

void writeObject(const Value &value, std::string &out) {
  std::vector<const Member *> sorted;
  sorted.reserve(value.members.size());
  for (const Member &member : value.members)
    sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(), [](const Member *a, const Member *b) { return a->key < b->key; });
  out += '{';
  for (const Member *member : sorted) {
    if (member != sorted.front())
      out += ',';
    out += quoteJson(member->key);
    out += ':';
    writeTo(member->value, out);
  }
  out += '}';
}

void writeTo(const Value &value, std::string &out) {
  switch (value.kind) {
  case Kind::Null:
    out += "null";
    return;
  case Kind::Bool:
    out += value.boolean ? "true" : "false";
    return;
  case Kind::Number:
    return value.isInteger ? writeNumber(value.integer, out) : writeNumber(value.number, out);
  case Kind::Text:
    out += quoteJson(value.text);
    return;
  case Kind::Array:
    out += '[';
    for (const Value &item : value.items) {
      if (&item != &value.items.front())
        out += ',';
      writeTo(item, out);
    }
    out += ']';
    return;
  case Kind::Object:
    return writeObject(value, out);
  }
}

} // namespace

std::string write(const Value &value) {
  std::string out;
  writeTo(value, out);
  return out;
}

} // namespace tilejit::json
