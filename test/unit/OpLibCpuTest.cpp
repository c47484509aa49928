// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The whole way on this machine's CPU, in one process: description, kernels, code, launch, and the judgement of the
// reference. What the interpreter says of the same kernels is in OpLibRunTest.cpp.

#include "OpLibTrialRun.h"

#include <catch2/catch.hpp>

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
