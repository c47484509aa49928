// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A place inside a JSON document: the value there, its JSON pointer, and the ways to read it that say what was expected
// and what was found. All of the parser's errors are made here, so that they look alike.

#ifndef TILEJIT_LIB_DESCRIPTION_CURSOR_H
#define TILEJIT_LIB_DESCRIPTION_CURSOR_H

#include "tilejit/Base/Json.h"
#include "tilejit/Base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

/// What errors anywhere in a document need to know about the whole.
struct Document {
  std::string_view text;
  std::string_view source;
  /// " (version 1.9 may know it; this build reads 1.0)" for a description of a newer minor version, else empty.
  std::string newerVersion;
};

class Cursor {
public:
  struct Entry;

  Cursor(const Document &document, const json::Value &value, std::string pointer = {})
      : document_(&document), value_(&value), pointer_(std::move(pointer)) {}

  const json::Value &value() const { return *value_; }
  const std::string &pointer() const { return pointer_; }

  /// BadDescription at this place.
  Status error(std::string message) const;
  /// "expected X, found <this value>" at this place.
  Status expected(std::string_view what) const;
  /// An error at a key of this object that is missing.
  Status missing(std::string_view key, std::string_view what) const;
  /// An error for a name that is none of `known`, with the nearest one as a hint. `what` is "a key", "an operator", ...
  Status unknown(std::string_view what, std::string_view name, std::span<const std::string_view> known) const;

  Expected<std::string> text(std::string_view what) const;
  Expected<bool> boolean(std::string_view what) const;
  Expected<int64_t> integer(std::string_view what, int64_t least, int64_t most) const;
  Expected<double> number(std::string_view what) const;
  /// The items of a list of at most so many.
  Expected<std::vector<Cursor>> list(std::string_view what, size_t most = 4096) const;
  /// The members of an object without its comments.
  Expected<std::vector<Entry>> object(std::string_view what) const;
  /// The same, where each key must be one of `known`.
  Expected<std::vector<Entry>> object(std::string_view what, std::span<const std::string_view> known) const;

  Cursor at(size_t index) const;

private:
  std::string numberText() const;

  const Document *document_;
  const json::Value *value_;
  std::string pointer_;
};

struct Cursor::Entry {
  std::string_view key;
  Cursor cursor;
};

/// The entry of a key; null where there is none.
const Cursor *findEntry(const std::vector<Cursor::Entry> &entries, std::string_view key);

/// A text in double quotes as messages show it: shortened, control characters escaped.
std::string quotedText(std::string_view text);
/// A value as messages show it: texts quoted and shortened, containers by their size.
std::string shown(const json::Value &value);
/// "a, b or c".
std::string alternatives(std::span<const std::string_view> names);

} // namespace tilejit

#endif // TILEJIT_LIB_DESCRIPTION_CURSOR_H
