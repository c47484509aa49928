// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reductions of random layouts, carried out by their recipe on sums of distinct numbers.

#include "ConversionMachine.h"
#include "TileGpuRandom.h"
#include "tilejit/Dialect/TileGPU/IR/Fragments.h"
#include "tilejit/Transforms/LayoutReduction.h"

#include <catch2/catch.hpp>

#include <map>

namespace tilejit::tilegpu::test {

namespace {

using Values = std::vector<std::vector<uint64_t>>; // [thread][register]

uint64_t numberOf(uint64_t element) { return (element + 1) * 0x9e3779b97f4a7c15u; }

/// What is wrong; empty if nothing.
std::string reduce(const LinearLayout &layout, int axis, const ReductionPlan &plan, const ConversionOptions &options) {
  const int laneBits = layout.inBits(kLane), registers = layout.inBits(kRegister);
  const size_t threads = size_t(1) << (laneBits + layout.inBits(kWarp));
  Values v(threads);
  for (size_t t = 0; t < threads; ++t)
    for (const std::vector<unsigned> &group : plan.groups) {
      v[t].push_back(0);
      for (unsigned s : group)
        v[t].back() += numberOf(layout.apply(plan.from.kept[s] | t << registers));
    }
  for (const ReductionStep &step : plan.steps) {
    const Values old = v;
    for (size_t t = 0; t < threads; ++t)
      for (size_t q = 0; q < v[t].size(); ++q)
        v[t][q] += old[t ^ step.laneXor][q ^ step.registerXor];
  }
  const int kept = plan.result.inBits(kRegister);
  if (plan.parts > 1) {
    // The conversion works; what it moves must be well defined.
    const ConversionPlan conversion = planConversion(plan.partial, plan.gathered, options);
    if (std::string error = carryOut(conversion, plan.partial, plan.gathered, options); !error.empty())
      return error;
    std::map<uint64_t, uint64_t> parts;
    for (size_t t = 0; t < threads; ++t)
      for (size_t q = 0; q < v[t].size(); ++q)
        if (parts.try_emplace(plan.partial.apply(q | t << kept), v[t][q]).first->second != v[t][q])
          return "two values of one part";
    for (size_t t = 0; t < threads; ++t)
      for (size_t q = 0; q < v[t].size(); ++q) {
        v[t][q] = 0;
        for (size_t i = 0; i < static_cast<size_t>(plan.parts); ++i)
          v[t][q] += parts.at(plan.gathered.apply(q | i << kept | t << plan.gathered.inBits(kRegister)));
      }
  }
  std::map<uint64_t, uint64_t> sums;
  const LinearLayout tile({}, layout.outs(), {}),
      line = LinearLayout({{"x", layout.outBits()}}, layout.outs(), gf2::units(0, layout.outBits())).sliced(axis);
  for (uint64_t element = 0; element < uint64_t(1) << layout.outBits(); ++element)
    sums[line.apply(element)] += numberOf(element);
  for (size_t t = 0; t < threads; ++t)
    for (size_t q = 0; q < v[t].size(); ++q)
      if (v[t][q] != sums.at(plan.result.apply(q | t << kept)))
        return "another sum in thread " + std::to_string(t);
  const LinearLayout sliced = layout.withIns({kRegister, kLane, kWarp}).sliced(axis);
  return describe(planConversion(plan.result, sliced, options), 32) == "none" ? ""
                                                                              : "the result is not that of the slice";
}

} // namespace

TEST_CASE("Reductions of random layouts count every element once", "[tilegpu]") {
  Random random(5);
  int acrossWarps = 0, withCopies = 0;
  for (int i = 0; i < 2000; ++i) {
    ConversionOptions options;
    options.banks = findBankModel(random.below(2) ? "nvidia" : "cdna");
    const int registers = random.below(5), warps = random.below(4), lanes = options.banks->laneBits;
    const int bits = registers + lanes + warps - random.below(3);
    const std::vector<int64_t> shape = random.shape(bits);
    LinearLayout layout = random.layout(registers, lanes, warps, shape);
    if (random.below(2)) {
      gf2::Vectors units = gf2::units(0, bits);
      units.resize(static_cast<size_t>(registers + lanes + warps));
      random.shuffle(units.begin(), units.end());
      layout = LinearLayout(layout.ins(), layout.outs(), units);
    }
    if (!layout.isSurjective())
      continue;
    const int axis = random.below(static_cast<int>(shape.size()));
    const ReductionPlan plan = planReduction(layout, axis);
    CAPTURE(i, axis, layout.describe());
    REQUIRE(reduce(layout, axis, plan, options) == "");
    acrossWarps += plan.parts > 1;
    withCopies += !layout.isInjective();
  }
  CHECK(acrossWarps > 200);
  CHECK(withCopies > 200);
}

TEST_CASE("Rows of an mma result take two shuffles", "[tilegpu]") {
  const MatrixInstruction *mma = findMatrixInstruction(MatrixFamily::Mma, {16, 8, 16}, 16);
  REQUIRE(mma);
  const LinearLayout result = mma->layout(MatrixOperand::Result).withIns({kRegister, kLane, kWarp});
  const ReductionPlan rows = planReduction(result, 1), columns = planReduction(result, 0);
  CHECK(rows.groups == std::vector<std::vector<unsigned>>{{0, 1}, {2, 3}});
  REQUIRE(rows.steps.size() == 2);
  CHECK((rows.steps[0].laneXor == 1 && rows.steps[1].laneXor == 2));
  CHECK((rows.steps[0].registerXor == 0 && rows.parts == 1));
  CHECK(columns.steps.size() == 3);
}

} // namespace tilejit::tilegpu::test
