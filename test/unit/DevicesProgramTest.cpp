// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Launch rules of GPU kernels: arithmetic, conditions, phases, grids, parameters, and rules that can't be followed.

#include "devices/common/GpuProgram.h"

#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>

using namespace tilejit;
using namespace tilejit::gpu;

namespace {

using Op = abi::LaunchExpr::Op;

/// Postfix text: "s0 32 ceil" is size 0 over 32, rounded up.
abi::LaunchExpr expr(const std::string &text) {
  abi::LaunchExpr made;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find(' ', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    if (word == "+" || word == "*" || word == "/" || word == "ceil" || word == "%") {
      Op op = word == "+"   ? Op::Add
              : word == "*" ? Op::Mul
              : word == "/" ? Op::FloorDiv
              : word == "%" ? Op::Mod
                            : Op::CeilDiv;
      made.steps.push_back({op, 0});
    } else {
      bool isSize = word[0] == 's';
      made.steps.push_back({isSize ? Op::Size : Op::Constant, std::stoll(word.substr(isSize))});
    }
  }
  return made;
}

abi::GpuKernel kernel(const std::string &symbol, std::initializer_list<std::string> grid, int64_t phase = 0) {
  abi::GpuKernel made;
  made.symbol = symbol;
  made.phase = phase;
  made.threads = 128;
  for (const std::string &count : grid)
    made.grid.push_back(expr(count));
  return made;
}

GpuProgram program(abi::GpuLaunch launch) {
  auto made = GpuProgram::make(std::move(launch));
  INFO(made.status().message());
  REQUIRE(made.isOk());
  return *made;
}

/// The value of an expression, by way of the first axis of a grid; -1 where it is refused.
int64_t value(const std::string &text, std::vector<int64_t> slots = {}) {
  abi::GpuLaunch launch;
  for (size_t i = 0; i < slots.size(); ++i)
    launch.sizes.push_back({static_cast<int64_t>(i), 0});
  launch.kernels = {kernel("k", {text})};
  GpuPlan plan;
  if (!program(std::move(launch)).plan(slots, nullptr, plan).isOk())
    return -1;
  return plan.count == 0 ? 0 : plan.kernels[0].instances;
}

/// Symbols of the kernels that run, in order.
std::string chosen(const GpuProgram &program, std::vector<int64_t> slots, GpuPlan &plan) {
  Status status = program.plan(slots, nullptr, plan);
  INFO(status.message());
  REQUIRE(status.isOk());
  std::string text;
  for (const PlannedKernel &planned : plan.planned())
    text += (text.empty() ? "" : " ") + program.kernels()[planned.kernel].symbol;
  return text;
}

} // namespace

TEST_CASE("launch rules compute with whole numbers that never overflow", "[devices]") {
  CHECK(value("7") == 7);
  CHECK(value("s0 32 ceil", {65}) == 3);
  CHECK(value("s0 32 ceil", {64}) == 2);
  CHECK(value("s0 32 /", {65}) == 2);
  CHECK(value("s0 2 + s1 *", {3, 5}) == 25);
  CHECK(value("-7 2 / 10 +") == 6);    // Rounded down: -4.
  CHECK(value("-7 2 ceil 10 +") == 7); // Rounded up: -3.
  CHECK(value("-7 4 %") == 1);
  CHECK(value("7 -4 % 10 +") == 9);
  CHECK(value("-9223372036854775808 3 %") == 1);
  CHECK(value("s0", {0}) == 0);
  for (const char *text : {"1 0 /", "1 0 ceil", "1 0 %", "-9223372036854775808 -1 /", "9223372036854775807 1 +",
                           "4611686018427387904 2 *", "-1"}) {
    INFO(text);
    CHECK(value(text) == -1);
  }
}

TEST_CASE("in each phase the first kernel whose conditions hold runs", "[devices]") {
  abi::GpuLaunch launch;
  launch.sizes = {{1, 0}, {-1, 100}};
  launch.kernels = {kernel("last", {"1"}, 7), kernel("large", {"s0 64 ceil"}), kernel("aligned", {"s0 4 ceil"}),
                    kernel("any", {"s0", "2"}), kernel("middle", {"s0"}, 3)};
  launch.kernels[1].when = {{expr("s0 s1 -1 * +"), false}};               // n >= 100.
  launch.kernels[2].when = {{expr("s0 4 %"), true}, {expr("s0"), false}}; // n % 4 == 0.
  launch.kernels[3].workspace = expr("s0 8 *");
  launch.kernels[4].when = {{expr("s0 -1 *"), true}}; // n == 0: then it has nothing to do either.
  launch.kernels[0].workspace = expr("16");
  launch.kernels[0].takesStatus = true;
  launch.kernels[2].takesPrinter = true;
  GpuProgram made = program(std::move(launch));
  GpuPlan large, aligned, any, empty;
  CHECK(chosen(made, {0, 1000}, large) == "large last");
  CHECK(large.kernels[0].instances == 16);
  CHECK(large.path == 0);
  CHECK(large.workspaceBytes == 16);
  CHECK(large.usesStatus);
  CHECK_FALSE(large.usesPrinter);
  CHECK(chosen(made, {0, 12}, aligned) == "aligned last");
  CHECK(aligned.path == 1);
  CHECK(aligned.usesPrinter);
  CHECK(chosen(made, {0, 13}, any) == "any last");
  CHECK(any.path == 2);
  CHECK(any.kernels[0].counts == std::array<int64_t, 3>{13, 2, 1});
  CHECK(any.kernels[0].instances == 26);
  CHECK(any.workspaceBytes == 104);
  CHECK(chosen(made, {0, 0}, empty) == "last");
}

TEST_CASE("a given grid takes the place of the rule", "[devices]") {
  abi::GpuLaunch launch;
  launch.kernels = {kernel("k", {})};
  GpuProgram made = program(std::move(launch));
  GpuPlan plan, none;
  CHECK(made.plan({}, nullptr, none).code() == StatusCode::InvalidArgument);
  int64_t grid[3] = {3, 4, 5}, huge[3] = {INT64_MAX, 2, 1}, empty[3] = {INT64_MAX, INT64_MAX, 0};
  REQUIRE(made.plan({}, grid, plan).isOk());
  CHECK(plan.kernels[0].instances == 60);
  GpuPlan other, nothing;
  CHECK_FALSE(made.plan({}, huge, other).isOk());
  REQUIRE(made.plan({}, empty, nothing).isOk());
  CHECK(nothing.count == 0);
}

TEST_CASE("rules that can't be followed are refused when they are loaded", "[devices]") {
  auto refused = [](auto change) {
    abi::GpuLaunch launch;
    launch.sizes = {{1, 0}};
    launch.kernels = {kernel("k", {"s0"})};
    change(launch);
    auto made = GpuProgram::make(std::move(launch));
    return !made.isOk() && made.status().code() == StatusCode::DeviceFailed;
  };
  CHECK_FALSE(refused([](abi::GpuLaunch &) {}));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels.clear(); }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].symbol.clear(); }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].threads = 0; }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].threads = 4096; }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].sharedBytes = -1; }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].grid.resize(4); }));
  CHECK(refused([](abi::GpuLaunch &l) { l.sizes[0].first = -2; }));
  CHECK(refused([](abi::GpuLaunch &l) { l.sizes[0].first = INT64_MAX; }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].grid[0] = expr("s1"); }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].grid[0] = expr("s-1"); }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].grid[0] = expr("1 +"); }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].grid[0] = expr("1 2"); }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].grid[0] = {}; }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].when = {{}}; }));
  CHECK(refused([](abi::GpuLaunch &l) { l.kernels[0].grid[0].steps[0].op = static_cast<Op>(99); }));
  CHECK(refused([](abi::GpuLaunch &l) {
    l.kernels[0].grid[0].steps.assign(200, {Op::Constant, 1});
    l.kernels[0].grid[0].steps.resize(399, {Op::Add, 0});
  }));
  CHECK(refused([](abi::GpuLaunch &l) {
    for (int64_t phase = 1; phase < 40; ++phase)
      l.kernels.push_back(kernel("k", {"1"}, phase));
  }));
  abi::GpuLaunch launch;
  launch.sizes = {{5, 0}};
  launch.kernels = {kernel("k", {"s0"})};
  GpuPlan plan;
  int64_t slots[5] = {};
  CHECK(program(launch).plan(slots, nullptr, plan).code() == StatusCode::DeviceFailed);
  launch.kernels[0].workspace = expr("-1");
  GpuPlan negative;
  int64_t more[6] = {0, 0, 0, 0, 0, 1};
  CHECK_FALSE(program(launch).plan(more, nullptr, negative).isOk());
}

TEST_CASE("parameters are slots, then what the kernel asks for, counts, and the first instance", "[devices]") {
  int64_t slots[] = {11, 12, 13}, room[3 + GpuParameters::mostExtra];
  GpuParameters parameters(slots, room);
  abi::GpuKernel made = kernel("k", {"1"});
  PlannedKernel planned{0, {4, 5, 6}, 120};
  auto words = [&] { return std::vector<int64_t>(parameters.words().begin(), parameters.words().end()); };
  LaunchMemory memory{reinterpret_cast<void *>(100), reinterpret_cast<void *>(200), reinterpret_cast<void *>(300)};
  parameters.fill(made, planned, {});
  CHECK(words() == std::vector<int64_t>{11, 12, 13, 4, 5, 6, 0});
  made.takesStatus = true;
  parameters.fill(made, planned, memory);
  parameters.setFirst(77);
  CHECK(words() == std::vector<int64_t>{11, 12, 13, 200, 4, 5, 6, 77});
  made.takesWorkspace = true;
  made.takesPrinter = true;
  parameters.fill(made, planned, memory);
  CHECK(words() == std::vector<int64_t>{11, 12, 13, 100, 200, 300, 4, 5, 6, 0});
  CHECK(parameters.bytes() == 80);
}

TEST_CASE("a grid beyond the driver's limit is launched in parts", "[devices]") {
  std::vector<std::pair<int64_t, int64_t>> parts;
  auto note = [&](int64_t first, int64_t blocks) {
    parts.emplace_back(first, blocks);
    return true;
  };
  REQUIRE(forEachPart(10, 4, note));
  CHECK(parts == std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 4}, {8, 2}});
  parts.clear();
  REQUIRE(forEachPart(4, 4, note));
  CHECK(parts.size() == 1);
  parts.clear();
  auto fail = [&](int64_t first, int64_t blocks) { return note(first, blocks) && first < 4; };
  CHECK_FALSE(forEachPart(10, 4, fail));
  CHECK(parts.size() == 2);
}
