// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Typed members of a JSON object, for readers that must say what is wrong: the first member that is missing or of
// another type is remembered, and reading goes on with a neutral value.

#ifndef TILEJIT_LIB_ABI_MEMBERS_H
#define TILEJIT_LIB_ABI_MEMBERS_H

#include "tilejit/Base/Json.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::abi {

class Members {
public:
  explicit Members(const json::Value &object) : object_(object) {}

  bool has(std::string_view key) const { return get(key) != nullptr; }
  std::string text(std::string_view key) {
    const json::Value *value = get(key);
    return check(key, value && value->isText()) ? value->text : std::string();
  }
  bool boolean(std::string_view key) {
    const json::Value *value = get(key);
    return check(key, value && value->isBool()) && value->boolean;
  }
  int64_t integer(std::string_view key) {
    const json::Value *value = get(key);
    return check(key, value && value->isInteger) ? value->integer : 0;
  }
  int64_t integer(std::string_view key, int64_t low, int64_t high) {
    int64_t value = integer(key);
    return check(key, value >= low && value <= high) ? value : low;
  }
  int32_t smallInteger(std::string_view key) { return static_cast<int32_t>(integer(key, INT32_MIN, INT32_MAX)); }
  std::vector<int64_t> integerItems(std::string_view key) {
    std::vector<int64_t> result;
    for (const json::Value &item : items(key))
      if (check(key, item.isInteger))
        result.push_back(item.integer);
    return result;
  }
  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> result;
    for (const json::Value &item : items(key))
      if (check(key, item.isText()))
        result.push_back(item.text);
    return result;
  }
  std::map<std::string, int64_t> integers(std::string_view key) {
    std::map<std::string, int64_t> result;
    const json::Value *value = get(key);
    if (check(key, value && value->isObject()))
      for (const json::Member &member : value->members)
        if (check(key, member.value.isInteger))
          result.emplace(member.key, member.value.integer);
    return result;
  }
  const std::vector<json::Value> &items(std::string_view key) {
    static const std::vector<json::Value> none;
    const json::Value *value = get(key);
    return check(key, value && value->isArray()) ? value->items : none;
  }
  const json::Value &object(std::string_view key) {
    static const json::Value none = json::makeObject();
    const json::Value *value = get(key);
    return check(key, value && value->isObject()) ? *value : none;
  }

  /// The path of what is wrong; empty: nothing.
  const std::string &wrong() const { return wrong_; }
  /// Remembers `key` where `good` does not hold; gives `good`.
  bool check(std::string_view key, bool good) {
    if (!good && wrong_.empty())
      wrong_ = key;
    return good;
  }
  void adopt(const Members &inner, std::string_view key) {
    check(std::string(key) + "/" + inner.wrong_, inner.wrong_.empty());
  }

private:
  const json::Value *get(std::string_view key) const { return object_.isObject() ? object_.find(key) : nullptr; }
  const json::Value &object_;
  std::string wrong_;
};

} // namespace tilejit::abi

#endif // TILEJIT_LIB_ABI_MEMBERS_H
