// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The manifest of a kernel as JSON. Unknown keys are ignored, so that a later version may add some; what is there must
// have its type.

#include "tilejit/ABI/Compile.h"

#include "LaunchJson.h"
#include "Members.h"

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
  if (manifest.packs) {
    json::Value packs = json::makeObject();
    packs.add("operand", json::makeInteger(manifest.packs->operand));
    packs.add("bytes", json::makeInteger(manifest.packs->bytes));
    value.add("packs", std::move(packs));
  }
  if (!manifest.gpu.kernels.empty())
    value.add("gpu", launchJson(manifest.gpu));
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
  if (members.has("packs")) {
    Members packs(members.object("packs"));
    manifest.packs = {packs.smallInteger("operand"), packs.integer("bytes")};
    members.adopt(packs, "packs");
  }
  if (members.has("gpu")) {
    Members launch(members.object("gpu"));
    manifest.gpu = readLaunch(launch);
    members.adopt(launch, "gpu");
  }
  if (!members.wrong().empty())
    return Status(StatusCode::InvalidArgument, "the manifest's \"" + members.wrong() + "\" is missing or malformed");
  return manifest;
}

} // namespace tilejit::abi
