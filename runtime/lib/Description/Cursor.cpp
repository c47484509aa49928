// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reading with messages.

#include "Cursor.h"

#include "tilejit/Base/Text.h"

#include <algorithm>

namespace tilejit {
namespace {

constexpr size_t shownBytes = 60;    ///< Of one value in a message.
constexpr size_t messageBytes = 380; ///< Of a whole message; the caller adds the pointer.
constexpr size_t alternativesBytes = 200;

std::string count(size_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + ' ' + std::string(n == 1 ? one : many);
}

std::string shownList(const json::Value &value) {
  std::string text;
  for (const json::Value &item : value.items)
    if (item.isArray() || item.isObject() || text.size() > shownBytes)
      return "a list of " + count(value.items.size(), "value", "values");
    else
      text += (text.empty() ? "" : ", ") + shown(item);
  return text.size() > shownBytes ? "a list of " + count(value.items.size(), "value", "values") : '[' + text + ']';
}

} // namespace

std::string quotedText(std::string_view text) { return '"' + shorten(text, shownBytes) + '"'; }

std::string shown(const json::Value &value) {
  switch (value.kind) {
  case json::Kind::Text:
    return quotedText(value.text);
  case json::Kind::Array:
    return shownList(value);
  case json::Kind::Object:
    return "an object with " + count(value.members.size(), "key", "keys");
  default:
    return json::write(value);
  }
}

std::string alternatives(std::span<const std::string_view> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (text.size() > alternativesBytes)
      return text + ", ...";
    text += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

Status Cursor::error(std::string message) const {
  std::string place = json::placeOf(shorten(document_->source, 200), document_->text, value_->offset);
  Status status(StatusCode::BadDescription, shorten(message, messageBytes));
  if (pointer_.empty())
    return std::move(status).at(place);
  return std::move(status).at(shorten(pointer_, 300)).withDetail("in " + place);
}

Status Cursor::expected(std::string_view what) const {
  std::string found = value_->isNumber() ? numberText() : shown(*value_);
  return error("expected " + std::string(what) + ", found " + found);
}

/// A number as the text spells it.
std::string Cursor::numberText() const {
  std::string_view rest = document_->text.substr(std::min(value_->offset, document_->text.size()));
  return shorten(rest.substr(0, rest.find_first_not_of("+-.0123456789eE")), shownBytes);
}

Status Cursor::missing(std::string_view key, std::string_view what) const {
  Cursor place(*document_, *value_, pointer_ + json::pointerToken(key));
  return place.error("expected " + std::string(what) + ", found no key \"" + std::string(key) + '"');
}

Status Cursor::unknown(std::string_view what, std::string_view name, std::span<const std::string_view> known) const {
  std::string list = known.empty() ? "none here" : alternatives(known);
  Status status =
      error("expected " + std::string(what) + " (" + list + "), found " + quotedText(name) + document_->newerVersion);
  std::string_view nearest = nearestName(name, known);
  if (nearest.empty() || name.size() < 2)
    return status;
  return std::move(status).withHint("did you mean \"" + std::string(nearest) + "\"?");
}

Expected<std::string> Cursor::text(std::string_view what) const {
  if (!value_->isText())
    return expected(what);
  return value_->text;
}

Expected<bool> Cursor::boolean(std::string_view what) const {
  if (!value_->isBool())
    return expected(what);
  return value_->boolean;
}

Expected<int64_t> Cursor::integer(std::string_view what, int64_t least, int64_t most) const {
  if (!value_->isNumber() || !value_->isInteger || value_->integer < least || value_->integer > most)
    return expected(what);
  return value_->integer;
}

Expected<double> Cursor::number(std::string_view what) const {
  if (!value_->isNumber())
    return expected(what);
  return value_->number;
}

Expected<std::vector<Cursor>> Cursor::list(std::string_view what, size_t most) const {
  if (!value_->isArray())
    return expected(what);
  if (value_->items.size() > most)
    return expected(std::string(what) + ", at most " + std::to_string(most));
  std::vector<Cursor> items;
  for (size_t i = 0; i < value_->items.size(); ++i)
    items.push_back(at(i));
  return items;
}

Expected<std::vector<Cursor::Entry>> Cursor::object(std::string_view what) const {
  if (!value_->isObject())
    return expected(what);
  std::vector<Entry> entries;
  for (const json::Member &member : value_->members)
    if (member.key != "//")
      entries.push_back({member.key, Cursor(*document_, member.value, pointer_ + json::pointerToken(member.key))});
  return entries;
}

Expected<std::vector<Cursor::Entry>> Cursor::object(std::string_view what,
                                                    std::span<const std::string_view> known) const {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<Entry> entries, object(what));
  for (const Entry &entry : entries) {
    bool isKnown = false;
    for (std::string_view key : known)
      isKnown |= key == entry.key;
    if (!isKnown)
      return entry.cursor.unknown("a known key", entry.key, known);
  }
  return entries;
}

Cursor Cursor::at(size_t index) const {
  return Cursor(*document_, value_->items[index], pointer_ + json::pointerToken(index));
}

const Cursor *findEntry(const std::vector<Cursor::Entry> &entries, std::string_view key) {
  for (const Cursor::Entry &entry : entries)
    if (entry.key == key)
      return &entry.cursor;
  return nullptr;
}

} // namespace tilejit
