// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The whole way for CPUs of other kinds, launched under an emulator: description, kernels, code, launch, and the
// judgement of the reference. Where there is no emulator the tests say so; code at which it would stop is compiled
// only.

#include "EmulatedRun.h"
#include "OpLibTrialRun.h"

#include <catch2/catch.hpp>

#include <cstdio>

using namespace tilejit;
using namespace tilejit::test;

namespace {

/// Each target its own share of the cases, another one in each run.
void runEverywhere(const std::vector<OpLibCase> &cases) {
  constexpr const char *targets[] = {"armv8-a", "sifive-x280", "neoverse-v2", "rv64gcv"};
  uint64_t seed = freshSeed();
  INFO("seed " << seed);
  size_t number = seed;
  for (const OpLibCase &example : cases) {
    TargetSpec target = runTarget(targets[number++ % std::size(targets)]);
    INFO(example.text << " " << example.sizes << " on " << target.name);
    if (std::string why = whyNotEmulated(target); !why.empty()) {
      std::printf("SKIP: operators on %s: %s\n", target.name.c_str(), why.c_str());
      return;
    }
    Trial trial(example, seed);
    CompiledRun run(requestOf(trial, {}), target);
    if (stopsEmulator(run.response.payloads.at(0).bytes, target))
      continue;
    std::vector<RunOperand> operands = operandsOf(trial);
    run.runClean(operands);
    trial.judge();
  }
}

} // namespace

TEST_CASE("emulated products agree with the reference", "[cpu]") { runEverywhere(matmulCases()); }
TEST_CASE("emulated products of packed operands agree with the reference", "[cpu]") {
  runEverywhere(constantProductCases());
}
TEST_CASE("emulated expressions agree with the reference", "[cpu]") { runEverywhere(elementwiseCases()); }
TEST_CASE("emulated reductions agree with the reference", "[cpu]") { runEverywhere(reduceCases()); }
TEST_CASE("emulated softmax and norms agree with the reference", "[cpu]") { runEverywhere(rowCases()); }
TEST_CASE("emulated transpositions and casts agree with the reference", "[cpu]") { runEverywhere(moveCases()); }
TEST_CASE("emulated attention agrees with the reference", "[cpu]") { runEverywhere(attentionCases()); }
TEST_CASE("emulated decoding agrees with the reference", "[cpu]") { runEverywhere(decodeCases()); }
