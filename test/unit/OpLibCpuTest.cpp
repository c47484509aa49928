// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The whole way on this machine's CPU, in one process: description, kernels, code, launch, and the judgement of the
// reference. What the interpreter says of the same kernels is in OpLibRunTest.cpp.

#include "AmxTrap.h"
#include "OpLibTrialRun.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <iterator>
#include <random>

using namespace tilejit;
using namespace tilejit::test;

namespace {

void runAll(const std::vector<OpLibCase> &cases, const abi::Config &config = {},
            const TargetSpec &target = hostTarget()) {
  uint64_t seed = freshSeed();
  INFO("seed " << seed);
  for (const OpLibCase &example : cases) {
    INFO(example.text << " " << example.sizes);
    Trial trial(example, seed);
    runTrial(trial, target, config);
    trial.judge();
  }
}

/// Products of bf16 and of bytes of ragged sizes, transposed or not, with weights that are packed once or without.
std::vector<OpLibCase> raggedGroupedProducts(uint64_t seed, int count) {
  struct Types {
    std::string a, b, c;
  };
  const Types types[] = {{"bf16", "bf16", "f32"}, {"bf16", "bf16", "bf16"}, {"i8", "i8", "i32"}, {"u8", "i8", "i32"},
                         {"i8", "u8", "i32"},     {"i8", "i8", "f32"},      {"u8", "u8", "i32"}};
  std::mt19937_64 random(seed);
  std::vector<OpLibCase> cases;
  for (int i = 0; i < count; ++i) {
    const Types &t = types[random() % std::size(types)];
    auto size = [&](uint64_t most) { return std::to_string(1 + random() % most); };
    auto operand = [](const std::string &name, const std::string &type, const std::string &rows,
                      const std::string &columns, const std::string &more = "") {
      return "'" + name + "': {'dtype': '" + type + "', 'shape': [" + rows + ", " + columns + "]" + more + "}";
    };
    bool ta = random() % 2, tb = random() % 2, isConstant = random() % 2;
    std::string m = size(134), n = size(140), k = size(300);
    cases.push_back(
        {describe("matmul", "'inputs': {" + operand("a", t.a, ta ? k : m, ta ? m : k) + ", " +
                                operand("b", t.b, tb ? n : k, tb ? k : n, isConstant ? ", 'constant': true" : "") +
                                "}, 'outputs': {" + operand("c", t.c, m, n) + "}, 'attributes': {'transpose_a': " +
                                (ta ? "true" : "false") + ", 'transpose_b': " + (tb ? "true" : "false") + "}"),
         ""});
  }
  return cases;
}

} // namespace

TEST_CASE("compiled products agree with the reference", "[cpu]") { runAll(matmulCases()); }
TEST_CASE("compiled products in odd tiles agree", "[cpu]") { runAll(matmulCases(), {{"bm", 3}, {"bn", 5}, {"bk", 2}}); }
TEST_CASE("compiled products of packed operands agree with the reference", "[cpu]") {
  runAll(constantProductCases());
  Expected<TargetSpec> narrow = parseTarget("x86-64-v3");
  REQUIRE(narrow.isOk());
  if (runsOnHost(*narrow).isOk())
    runAll(constantProductCases(), {}, *narrow);
}
TEST_CASE("compiled products of packed operands in whole panels agree", "[cpu]") {
  runAll(constantProductCases(), {{"bm", 7}, {"bn", 192}, {"bk", 24}});
}
TEST_CASE("compiled products that pack an operand first agree", "[cpu]") {
  runAll(tallProductCases());
  runAll(tallProductCases(), {{"bm", 70}, {"bn", 64}, {"bk", 24}});
}
TEST_CASE("compiled products of pairs and quadruples agree on every level of x86", "[cpu]") {
  uint64_t seed = freshSeed();
  INFO("sizes of seed " << seed);
  for (std::string_view name : {"native", "x86-64", "x86-64-v3", "x86-64-v4"}) {
    Expected<TargetSpec> target = parseTarget(name);
    REQUIRE(target.isOk());
    if (runsOnHost(*target).isOk())
      runAll(raggedGroupedProducts(++seed, 20), {}, *target);
  }
}
TEST_CASE("compiled products in matrix registers agree with the reference", "[cpu]") {
  if (std::string why = whyNoAmx(); !why.empty()) {
    std::printf("SKIP: compiled products in matrix registers: %s\n", why.c_str());
    return;
  }
  TargetSpec target = hostWithAmx();
  int64_t before = trappedProducts();
  for (const std::vector<OpLibCase> &cases : {matmulCases(), constantProductCases(), tallProductCases()})
    runAll(cases, {}, target);
  uint64_t seed = freshSeed();
  INFO("sizes of seed " << seed);
  runAll(raggedGroupedProducts(seed, 40), {}, target);
  runAll(raggedGroupedProducts(seed + 1, 20), {{"bm", 70}, {"bn", 72}, {"bk", 100}}, target);
  CHECK((trappedProducts() > before || runsOnHost(target).isOk()));
}
TEST_CASE("compiled expressions agree with the reference", "[cpu]") { runAll(elementwiseCases()); }
TEST_CASE("compiled reductions agree with the reference", "[cpu]") { runAll(reduceCases()); }
TEST_CASE("compiled reductions in short parts agree", "[cpu]") { runAll(reduceCases(), {{"bn", 7}, {"chunk", 1024}}); }
TEST_CASE("compiled softmax and norms agree with the reference", "[cpu]") { runAll(rowCases()); }
TEST_CASE("compiled transpositions and casts agree with the reference", "[cpu]") { runAll(moveCases()); }
TEST_CASE("compiled attention agrees with the reference", "[cpu]") { runAll(attentionCases()); }
TEST_CASE("compiled attention in odd tiles agrees", "[cpu]") { runAll(attentionCases(), {{"bm", 5}, {"bn", 6}}); }
TEST_CASE("compiled attention with queries side by side agrees", "[cpu]") {
  for (const std::vector<OpLibCase> &cases : {attentionCases(), decodeCases(), sequenceCases()})
    runAll(cases, {{"bm", 20}, {"bn", 7}});
}
TEST_CASE("compiled decoding agrees with the reference", "[cpu]") { runAll(decodeCases()); }
TEST_CASE("compiled decoding in odd tiles agrees", "[cpu]") { runAll(decodeCases(), {{"bm", 5}, {"bn", 6}}); }
TEST_CASE("what caches hold beyond the keys of sequences does not matter", "[cpu]") {
  for (const OpLibCase &example : decodeCases()) {
    Trial trial(example, freshSeed());
    if (trial.description.family != Family::AttentionDecode)
      continue;
    INFO(example.text << " " << example.sizes << " seed " << trial.seed);
    poisonCaches(trial);
    runTrial(trial, hostTarget(), {});
    trial.judge();
  }
}
TEST_CASE("compiled attention of sequences agrees", "[cpu]") { runAll(sequenceCases()); }
TEST_CASE("compiled attention of sequences in odd tiles agrees", "[cpu]") {
  runAll(sequenceCases(), {{"bm", 5}, {"bn", 6}});
}
TEST_CASE("compiled results larger than the caches agree", "[cpu]") { runAll(largeCases()); }
TEST_CASE("large results agree where the CPU has no masks", "[cpu]") {
  Expected<TargetSpec> target = parseTarget("x86-64-v3");
  REQUIRE(target.isOk());
  if (runsOnHost(*target).isOk())
    runAll(largeCases(), {}, *target);
}
