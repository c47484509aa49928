// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Writing and checked reading of launches. What comes from a file or a worker is run later without a second look, so
// that everything is refused here that an evaluator could stumble over.

#include "LaunchJson.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>

namespace tilejit::abi {
namespace {

using Op = LaunchExpr::Op;

constexpr size_t maxSteps = 4096, maxSizes = 4096;
constexpr int64_t maxPhase = 1 << 16;

struct OpSign {
  Op op;
  char sign;
};
constexpr std::array opSigns = {OpSign{Op::Add, '+'}, OpSign{Op::Mul, '*'}, OpSign{Op::FloorDiv, '/'},
                                OpSign{Op::CeilDiv, '^'}, OpSign{Op::Mod, '%'}};

std::string stepText(const LaunchExpr::Step &step) {
  for (const OpSign &row : opSigns)
    if (row.op == step.op)
      return std::string(1, row.sign);
  return (step.op == Op::Size ? "s" : "") + std::to_string(step.value);
}

json::Value exprJson(const LaunchExpr &expr) {
  std::string text;
  for (const LaunchExpr::Step &step : expr.steps)
    text += (text.empty() ? "" : " ") + stepText(step);
  return json::makeText(std::move(text));
}

bool parseStep(std::string_view text, LaunchExpr::Step &step) {
  if (text.size() == 1)
    for (const OpSign &row : opSigns)
      if (row.sign == text[0]) {
        step.op = row.op;
        return true;
      }
  bool isSize = text.starts_with('s');
  auto number = parseInteger(text.substr(isSize ? 1 : 0));
  if (!number)
    return false;
  step = {isSize ? Op::Size : Op::Constant, *number};
  return true;
}

/// Whether the text is an expression that can be evaluated; an empty text is an absent one.
bool parseExpr(std::string_view text, size_t sizes, LaunchExpr &expr) {
  if (text.empty())
    return true;
  for (std::string_view word : splitText(text, ' ')) {
    LaunchExpr::Step step;
    if (!parseStep(word, step) || expr.steps.size() == maxSteps)
      return false;
    expr.steps.push_back(step);
  }
  return launchExprFault(expr, sizes).empty();
}

LaunchExpr readExpr(Members &members, std::string_view key, size_t sizes) {
  LaunchExpr expr;
  std::string text = members.text(key);
  return members.check(key, parseExpr(text, sizes, expr)) ? expr : LaunchExpr();
}

json::Value kernelJson(const GpuKernel &kernel) {
  std::vector<json::Value> when, grid;
  for (const LaunchCondition &condition : kernel.when) {
    json::Value item = json::makeObject();
    item.add("expr", exprJson(condition.expr));
    item.add("equality", json::makeBool(condition.isEquality));
    when.push_back(std::move(item));
  }
  for (const LaunchExpr &count : kernel.grid)
    grid.push_back(exprJson(count));
  json::Value value = json::makeObject();
  value.add("symbol", json::makeText(kernel.symbol));
  value.add("phase", json::makeInteger(kernel.phase));
  value.add("when", json::makeArray(std::move(when)));
  value.add("grid", json::makeArray(std::move(grid)));
  value.add("workspace", exprJson(kernel.workspace));
  value.add("takes_workspace", json::makeBool(kernel.takesWorkspace));
  value.add("takes_status", json::makeBool(kernel.takesStatus));
  value.add("takes_printer", json::makeBool(kernel.takesPrinter));
  value.add("threads", json::makeInteger(kernel.threads));
  value.add("shared_bytes", json::makeInteger(kernel.sharedBytes));
  return value;
}

GpuKernel readKernel(Members &members, size_t sizes) {
  GpuKernel kernel;
  kernel.symbol = members.text("symbol");
  members.check("symbol", !kernel.symbol.empty());
  kernel.phase = members.integer("phase", 0, maxPhase);
  for (const json::Value &item : members.items("when")) {
    Members inner(item);
    LaunchCondition &condition = kernel.when.emplace_back();
    condition.expr = readExpr(inner, "expr", sizes);
    inner.check("expr", !condition.expr.steps.empty());
    condition.isEquality = inner.boolean("equality");
    members.adopt(inner, "when");
  }
  for (const std::string &text : members.texts("grid")) {
    LaunchExpr &count = kernel.grid.emplace_back();
    members.check("grid", !text.empty() && parseExpr(text, sizes, count));
  }
  members.check("grid", kernel.grid.size() <= 3);
  kernel.workspace = readExpr(members, "workspace", sizes);
  kernel.takesWorkspace = members.boolean("takes_workspace");
  kernel.takesStatus = members.boolean("takes_status");
  kernel.takesPrinter = members.boolean("takes_printer");
  kernel.threads = members.integer("threads", 1, maxBlockThreads);
  kernel.sharedBytes = members.integer("shared_bytes", 0, maxBlockSharedBytes);
  return kernel;
}

} // namespace

json::Value launchJson(const GpuLaunch &launch) {
  std::vector<json::Value> sizes, kernels, prints;
  for (const auto &[slot, size] : launch.sizes)
    sizes.push_back(json::makeArray({json::makeInteger(slot), json::makeInteger(size)}));
  for (const GpuKernel &kernel : launch.kernels)
    kernels.push_back(kernelJson(kernel));
  for (const GpuPrint &print : launch.prints) {
    json::Value item = json::makeObject();
    item.add("text", json::makeText(print.text));
    item.add("types", json::makeText(print.types));
    prints.push_back(std::move(item));
  }
  json::Value value = json::makeObject();
  value.add("sizes", json::makeArray(std::move(sizes)));
  value.add("kernels", json::makeArray(std::move(kernels)));
  value.add("prints", json::makeArray(std::move(prints)));
  return value;
}

GpuLaunch readLaunch(Members &members) {
  GpuLaunch launch;
  for (const json::Value &item : members.items("sizes")) {
    bool good = item.isArray() && item.items.size() == 2 && item.items[0].isInteger && item.items[1].isInteger &&
                item.items[0].integer >= -1;
    if (members.check("sizes", good && launch.sizes.size() < maxSizes))
      launch.sizes.emplace_back(item.items[0].integer, item.items[1].integer);
  }
  for (const json::Value &item : members.items("kernels")) {
    Members inner(item);
    launch.kernels.push_back(readKernel(inner, launch.sizes.size()));
    members.adopt(inner, "kernels");
  }
  members.check("kernels", !launch.kernels.empty());
  for (const json::Value &item : members.items("prints")) {
    Members inner(item);
    launch.prints.push_back({inner.text("text"), inner.text("types")});
    members.adopt(inner, "prints");
  }
  return launch;
}

} // namespace tilejit::abi
