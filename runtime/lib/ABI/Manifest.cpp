// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The manifest of a kernel as JSON. Unknown keys are ignored, so that a later version may add some; what is there must
// have its type.

#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Json.h"

namespace tilejit::abi {
namespace {

json::Value textList(const std::vector<std::string> &texts) {
  std::vector<json::Value> items;
  for (const std::string &text : texts)
    items.push_back(json::makeText(text));
  return json::makeArray(std::move(items));
}

json::Value integerMap(const std::map<std::string, int64_t> &map) {
  json::Value value = json::makeObject();
  for (const auto &[name, number] : map)
    value.add(name, json::makeInteger(number));
  return value;
}

json::Value integerList(const std::vector<int64_t> &numbers) {
  std::vector<json::Value> items;
  for (int64_t number : numbers)
    items.push_back(json::makeInteger(number));
  return json::makeArray(std::move(items));
}

json::Value operandJson(const OperandInfo &operand) {
  json::Value value = json::makeObject();
  value.add("name", json::makeText(operand.name));
  value.add("dtype", json::makeText(operand.dtype));
  value.add("rank", json::makeInteger(operand.rank));
  value.add("output", json::makeBool(operand.isOutput));
  value.add("shape", integerList(operand.shape));
  value.add("strides", integerList(operand.strides));
  value.add("align", json::makeInteger(operand.align));
  return value;
}

/// Takes typed members out of an object; remembers the first one that is missing or of another type.
class Members {
public:
  explicit Members(const json::Value &object) : object_(object) {}

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
  int32_t smallInteger(std::string_view key) {
    int64_t value = integer(key);
    return check(key, value == static_cast<int32_t>(value)) ? static_cast<int32_t>(value) : 0;
  }
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
  const std::string &wrong() const { return wrong_; }
  void adopt(const Members &inner, std::string_view key) {
    check(std::string(key) + "/" + inner.wrong_, inner.wrong_.empty());
  }

private:
  const json::Value *get(std::string_view key) const { return object_.isObject() ? object_.find(key) : nullptr; }
  bool check(std::string_view key, bool good) {
    if (!good && wrong_.empty())
      wrong_ = key;
    return good;
  }
  const json::Value &object_;
  std::string wrong_;
};

} // namespace

std::string manifestJson(const Manifest &manifest) {
  std::vector<json::Value> operands;
  for (const OperandInfo &operand : manifest.operands)
    operands.push_back(operandJson(operand));
  json::Value value = json::makeObject();
  value.add("op", json::makeText(manifest.op));
  value.add("target", json::makeText(manifest.target));
  value.add("abi", json::makeInteger(manifest.abiVersion));
  value.add("operands", json::makeArray(std::move(operands)));
  value.add("launch_rule", json::makeBool(manifest.hasLaunchRule));
  value.add("paths", textList(manifest.paths));
  value.add("config", integerMap(manifest.config));
  value.add("resources", integerMap(manifest.resources));
  value.add("assertions", textList(manifest.assertions));
  value.add("reduction_order", json::makeText(manifest.reductionOrder));
  return json::write(value);
}

Expected<Manifest> parseManifest(std::string_view text) {
  TILEJIT_ASSIGN_OR_RETURN(json::Value value, json::parse(text, "manifest", {}, StatusCode::InvalidArgument));
  Members members(value);
  Manifest manifest;
  manifest.op = members.text("op");
  manifest.target = members.text("target");
  manifest.abiVersion = members.smallInteger("abi");
  for (const json::Value &item : members.items("operands")) {
    Members operand(item);
    OperandInfo &info = manifest.operands.emplace_back();
    info.name = operand.text("name");
    info.dtype = operand.text("dtype");
    info.rank = operand.smallInteger("rank");
    info.isOutput = operand.boolean("output");
    info.shape = operand.integerItems("shape");
    info.strides = operand.integerItems("strides");
    info.align = operand.integer("align");
    members.adopt(operand, "operands");
  }
  manifest.hasLaunchRule = members.boolean("launch_rule");
  manifest.paths = members.texts("paths");
  manifest.config = members.integers("config");
  manifest.resources = members.integers("resources");
  manifest.assertions = members.texts("assertions");
  manifest.reductionOrder = members.text("reduction_order");
  if (!members.wrong().empty())
    return Status(StatusCode::InvalidArgument, "the manifest's \"" + members.wrong() + "\" is missing or malformed");
  return manifest;
}

} // namespace tilejit::abi
