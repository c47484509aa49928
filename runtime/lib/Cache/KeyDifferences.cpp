// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Why two keys are not one: the fields in which their material differs, descriptions down to the JSON pointer.

#include "tilejit/Base/Json.h"
#include "tilejit/Base/Text.h"
#include "tilejit/Cache/Key.h"

#include <algorithm>
#include <set>

namespace tilejit {
namespace {

constexpr size_t longestValue = 200;

class Comparison {
public:
  void text(std::string field, std::string_view a, std::string_view b) {
    if (a != b)
      found.push_back({std::move(field), shorten(a, longestValue), shorten(b, longestValue)});
  }
  void number(std::string field, int64_t a, int64_t b) { text(std::move(field), std::to_string(a), std::to_string(b)); }

  /// Two maps (or lists of pairs) from names to values; `show` makes text of a value.
  template <typename Map, typename Show> void map(const std::string &field, const Map &a, const Map &b, Show show) {
    std::map<std::string, std::string> left, right;
    for (const auto &[name, value] : a)
      left.emplace(name, show(value));
    for (const auto &[name, value] : b)
      right.emplace(name, show(value));
    std::set<std::string> names;
    for (const auto &item : left)
      names.insert(item.first);
    for (const auto &item : right)
      names.insert(item.first);
    for (const std::string &name : names)
      text(field + "/" + shorten(name), left.contains(name) ? left[name] : "", right.contains(name) ? right[name] : "");
  }

  void json(const std::string &field, const json::Value *a, const json::Value *b) {
    if (a && b && a->isObject() && b->isObject())
      return object(field, *a, *b);
    if (a && b && a->isArray() && b->isArray()) {
      for (size_t i = 0; i < std::max(a->items.size(), b->items.size()); ++i)
        json(field + json::pointerToken(i), i < a->items.size() ? &a->items[i] : nullptr,
             i < b->items.size() ? &b->items[i] : nullptr);
      return;
    }
    text(field, a ? json::write(*a) : "", b ? json::write(*b) : "");
  }

  std::vector<KeyDifference> found;

private:
  void object(const std::string &field, const json::Value &a, const json::Value &b) {
    std::set<std::string> keys;
    for (const json::Value *side : {&a, &b})
      for (const json::Member &member : side->members)
        keys.insert(member.key);
    for (const std::string &key : keys)
      json(field + json::pointerToken(key), a.find(key), b.find(key));
  }
};

void compareDescriptions(const KeyMaterial &a, const KeyMaterial &b, Comparison &out) {
  if (a.kind == DescriptionKind::Json && b.kind == DescriptionKind::Json) {
    Expected<json::Value> left = json::parse(a.description, "a"), right = json::parse(b.description, "b");
    if (left && right)
      return out.json("description", &*left, &*right);
  }
  out.text("description", a.description, b.description);
}

} // namespace

std::vector<KeyDifference> keyDifferences(const KeyMaterial &a, const KeyMaterial &b) {
  Comparison out;
  compareDescriptions(a, b, out);
  out.map("config", a.config, b.config, [](int64_t value) { return std::to_string(value); });
  out.text("emit", a.emit, b.emit);
  out.number("with_bitcode", a.withBitcode, b.withBitcode);
  out.text("target", a.target, b.target);
  if (a.target == b.target)
    out.text("target_folder", a.targetFolder, b.targetFolder);
  out.map("toolchain", a.toolchain, b.toolchain, [](const std::string &value) { return value; });
  out.text("llvm_version", a.llvmVersion, b.llvmVersion);
  out.text("tilejit_version", a.tilejitVersion, b.tilejitVersion);
  out.number("cache_format", a.format, b.format);
  out.number("abi_version", a.abiVersion, b.abiVersion);
  return std::move(out.found);
}

} // namespace tilejit
