// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The whole way to simulated GPUs, in one process: description, kernels, code, launch, the judgement of the reference.
// No report of the simulator is let pass.

#include "OpLibTrialRun.h"

#include <catch2/catch.hpp>

using namespace tilejit;
using namespace tilejit::test;

namespace {

sim::Counters runOne(const OpLibCase &example, std::string_view target, uint64_t seed, const abi::Config &config) {
  INFO(example.text << " " << example.sizes << " on " << target);
  Trial trial(example, seed);
  RunOutcome outcome = runTrial(trial, runTarget(target), config);
  trial.judge();
  return outcome.simulated.counters;
}

void runAll(const std::vector<OpLibCase> &cases, std::string_view target, const abi::Config &config = {}) {
  uint64_t seed = freshSeed();
  INFO("seed " << seed);
  for (const OpLibCase &example : cases)
    runOne(example, target, seed, config);
}

/// Each chip its own share of the cases, so that all together see each kind on two of the five.
void runEverywhere(const std::vector<OpLibCase> &cases) {
  constexpr const char *targets[] = {"sm_80", "gfx942", "gfx1100", "sm_90a", "gfx906"};
  uint64_t seed = freshSeed();
  INFO("seed " << seed);
  size_t number = 0;
  for (const OpLibCase &example : cases)
    for (int times = 0; times < 2; ++times)
      runOne(example, targets[number++ % std::size(targets)], seed, {});
}

} // namespace

TEST_CASE("simulated products agree with the reference", "[gpu]") { runEverywhere(matmulCases()); }
TEST_CASE("simulated products in other tiles agree", "[gpu]") {
  runAll(matmulCases(), "sm_80", {{"bm", 16}, {"bn", 32}, {"bk", 8}, {"warps", 2}});
}
TEST_CASE("simulated expressions agree with the reference", "[gpu]") { runEverywhere(elementwiseCases()); }
TEST_CASE("simulated reductions agree with the reference", "[gpu]") { runEverywhere(reduceCases()); }
TEST_CASE("simulated softmax and norms agree with the reference", "[gpu]") { runEverywhere(rowCases()); }
TEST_CASE("simulated transpositions and casts agree with the reference", "[gpu]") { runEverywhere(moveCases()); }
TEST_CASE("simulated attention agrees with the reference", "[gpu]") { runEverywhere(attentionCases()); }
TEST_CASE("simulated decoding agrees with the reference", "[gpu]") { runEverywhere(decodeCases()); }
TEST_CASE("tables of any numbers keep simulated decoding inside its operands", "[gpu]") {
  for (const OpLibCase &example : decodeCases()) {
    Trial trial(example, freshSeed());
    if (trial.description.family != Family::AttentionDecode || trial.description.inputs[0].strides)
      continue;
    INFO(example.text << " " << example.sizes);
    spoilTables(trial);
    runTrial(trial, runTarget("sm_80"), {});
  }
}
TEST_CASE("simulated attention of sequences agrees", "[gpu]") { runEverywhere(sequenceCases()); }
TEST_CASE("simulated attention in other tiles agrees", "[gpu]") {
  runAll(attentionCases(), "gfx1100", {{"bm", 32}, {"bn", 16}, {"warps", 4}});
}

TEST_CASE("contiguous operands are accessed in whole sectors and without bank conflicts", "[gpu]") {
  std::vector<OpLibCase> cases = {
      {describe("softmax", "'inputs': {'x': {'dtype': 'f32', 'shape': [6, 1024]}}, "
                           "'outputs': {'y': {'dtype': 'f32', 'shape': [6, 1024]}}, 'attributes': {'axis': 1}"),
       ""},
      {describe("elementwise", "'inputs': {'x': {'dtype': 'bf16', 'shape': [64, 256]}}, "
                               "'outputs': {'y': {'dtype': 'bf16', 'shape': [64, 256]}}, "
                               "'attributes': {'expression': {'y': 'x * 2'}}"),
       ""},
      {describe("transpose", "'inputs': {'x': {'dtype': 'f32', 'shape': [64, 128]}}, "
                             "'outputs': {'y': {'dtype': 'f32', 'shape': [128, 64]}}, "
                             "'attributes': {'permutation': [1, 0]}"),
       ""},
      {describe("matmul", "'inputs': {'a': {'dtype': 'f16', 'shape': [128, 64]}, 'b': {'dtype': 'f16', "
                          "'shape': [64, 128]}}, 'outputs': {'c': {'dtype': 'f32', 'shape': [128, 128]}}"),
       ""},
      {describe("reduce", "'inputs': {'x': {'dtype': 'f32', 'shape': [64, 512]}}, "
                          "'outputs': {'y': {'dtype': 'f32', 'shape': [512]}}, "
                          "'attributes': {'kind': 'sum', 'axes': [0]}"),
       ""},
  };
  uint64_t seed = freshSeed();
  for (const OpLibCase &example : cases)
    for (const char *target : {"sm_80", "gfx942", "gfx1100"}) {
      sim::Counters counters = runOne(example, target, seed, {});
      INFO(example.text << " on " << target);
      CHECK(counters.sectors == counters.sectorsIdeal);
      CHECK(counters.sharedWavefronts == counters.sharedWavefrontsIdeal);
    }
}
