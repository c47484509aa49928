// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Places whose elements fall together in the result differ by the kernel of the sliced layout. Those of its vectors
// that lead to further elements are the steps: in registers, over lanes, over warps. The others lead to copies.

#include "tilejit/Transforms/LayoutReduction.h"

#include "Steps.h"

#include <algorithm>

namespace tilejit::tilegpu {

namespace {

/// For each register of the sliced layout, those that are reduced to it.
std::vector<std::vector<unsigned>> registerGroups(const LinearLayout &layout, const gf2::Vectors &kept,
                                                  const gf2::Vectors &reduced) {
  std::vector<std::vector<unsigned>> groups;
  for (unsigned first : registersOf(kept)) {
    std::vector<unsigned> group = registersOf(reduced, first);
    std::sort(group.begin(), group.end(), [&](unsigned a, unsigned b) { return layout.apply(a) < layout.apply(b); });
    groups.push_back(std::move(group));
  }
  return groups;
}

LinearLayout withParts(const LinearLayout &result, int registers, const gf2::Vectors &parts, int partBits) {
  Dims ins = result.ins(), outs = result.outs();
  ins.front().bits = registers;
  outs.insert(outs.begin(), {"parts", partBits});
  gf2::Vectors columns;
  const gf2::Vectors &own = result.columns();
  const auto ownRegisters = static_cast<size_t>(result.inBits(kRegister));
  // Registers of the result, then those that hold further parts, then threads.
  columns.assign(own.begin(), own.begin() + static_cast<ptrdiff_t>(ownRegisters));
  for (size_t i = 0; ownRegisters + i < static_cast<size_t>(registers); ++i)
    columns.push_back(uint64_t(1) << (result.outBits() + static_cast<int>(i)));
  columns.insert(columns.end(), own.begin() + static_cast<ptrdiff_t>(ownRegisters), own.end());
  for (size_t i = 0; i < parts.size(); ++i)
    columns[static_cast<size_t>(registers) + i] |= parts[i] << result.outBits();
  return {std::move(ins), std::move(outs), std::move(columns)};
}

} // namespace

ReductionPlan planReduction(const LinearLayout &layout, int axis) {
  ReductionPlan plan;
  plan.from = distinctRegisters(layout);
  const LinearLayout &whole = plan.from.layout, sliced = whole.sliced(axis);
  const DistinctRegisters distinct = distinctRegisters(sliced);
  plan.result = distinct.layout;
  const int registers = whole.inBits(kRegister), kept = plan.result.inBits(kRegister), lanes = whole.inBits(kLane);
  gf2::Vectors keptRegisters;
  for (int i = 0; i < kept; ++i)
    keptRegisters.push_back(distinct.kept[size_t(1) << i]);
  const gf2::Vectors inThread = gf2::kernel(sliced.columns(kRegister));
  plan.groups = registerGroups(whole, keptRegisters, inThread);

  // Relations that begin at lanes come first, so that each step takes the nearest way.
  gf2::Span reached(gf2::combineEach(whole.columns(kRegister), inThread));
  gf2::Vectors partsOfThread(threadColumns(whole).size());
  std::vector<int>
      partOfStep; // For each vector that `reached` has seen after the registers: its part, -1 within warps.
  for (uint64_t relation : gf2::kernel(plan.result.columns())) {
    const uint64_t reg = relation & gf2::lowBits(kept), thread = relation >> kept;
    const uint64_t element = whole.apply(gf2::combine(keptRegisters, reg) | thread << registers);
    const auto known = reached.express(element);
    const bool isInWarp = thread >> lanes == 0;
    const auto last = static_cast<size_t>(std::bit_width(thread)) - 1;
    reached.add(element);
    partOfStep.push_back(-1);
    if (known) { // Copies, which for warps may be those of another part.
      for (uint64_t bits = *known >> inThread.size(); bits != 0; bits &= bits - 1)
        if (int part = partOfStep[static_cast<size_t>(std::countr_zero(bits))]; part >= 0)
          partsOfThread[last] |= uint64_t(1) << part;
    } else if (isInWarp) {
      plan.steps.push_back({thread, reg});
    } else {
      partOfStep.back() = std::countr_zero(static_cast<unsigned>(plan.parts));
      partsOfThread[last] |= static_cast<uint64_t>(plan.parts);
      plan.parts *= 2;
    }
  }
  const int partBits = std::countr_zero(static_cast<unsigned>(plan.parts));
  if (plan.parts > 1) {
    plan.partial = withParts(plan.result, kept, partsOfThread, partBits);
    plan.gathered = withParts(plan.result, kept + partBits, {}, partBits);
  }
  return plan;
}

} // namespace tilejit::tilegpu
