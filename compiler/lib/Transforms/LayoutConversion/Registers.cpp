// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions that stay in the thread, and what all parts of the planner share.

#include "Steps.h"

#include <cassert>

namespace tilejit::tilegpu {

DistinctRegisters distinctRegisters(const LinearLayout &layout) {
  for ([[maybe_unused]] const Dim &dim : layout.ins())
    assert((dim.bits == 0 || dim.name == kRegister || dim.name == kLane || dim.name == kWarp) &&
           "conversions are between registers of one block");
  const LinearLayout whole = layout.withIns({kRegister, kLane, kWarp});
  DistinctRegisters result{whole.withoutBroadcast(kRegister), {}, {}};
  const gf2::Vectors all = whole.columns(kRegister);
  // Which original bits were kept, and what each original bit is in terms of those.
  gf2::Vectors kept, index;
  const gf2::Span distinct(result.layout.columns(kRegister));
  gf2::Span seen;
  for (size_t i = 0; i < all.size(); ++i) {
    if (seen.add(all[i]))
      kept.push_back(uint64_t(1) << i);
    index.push_back(*distinct.express(all[i]));
  }
  result.kept = registersOf(kept);
  result.index = registersOf(index);
  return result;
}

gf2::Vectors threadColumns(const LinearLayout &layout) {
  return gf2::concat(layout.columns(kLane), layout.columns(kWarp));
}

std::vector<Select> selectsOf(const gf2::Vectors &columns) {
  const gf2::Vectors steps = gf2::independent(columns);
  const gf2::Span span(steps);
  std::vector<Select> selects;
  for (uint64_t step : steps)
    selects.push_back({0, step});
  for (size_t i = 0; i < columns.size(); ++i)
    for (uint64_t parts = *span.express(columns[i]); parts != 0; parts &= parts - 1)
      selects[static_cast<size_t>(std::countr_zero(parts))].threadMask |= uint64_t(1) << i;
  return selects;
}

std::vector<unsigned> registersOf(const gf2::Vectors &basis, uint64_t first) {
  std::vector<unsigned> registers;
  for (uint64_t i = 0; i < uint64_t(1) << basis.size(); ++i)
    registers.push_back(static_cast<unsigned>(gf2::combine(basis, i) ^ first));
  return registers;
}

bool staysInWarp(const LinearLayout &from, const LinearLayout &to) {
  const gf2::Span warp(gf2::concat(from.columns(kRegister), from.columns(kLane)));
  if (!warp.containsAll(to.columns(kRegister)) || !warp.containsAll(to.columns(kLane)))
    return false;
  const gf2::Vectors has = from.columns(kWarp), wants = to.columns(kWarp);
  for (size_t i = 0; i < has.size(); ++i)
    if (!warp.contains(has[i] ^ wants[i]))
      return false;
  return true;
}

std::optional<RegisterMove> planRegisters(const LinearLayout &from, const LinearLayout &to) {
  const gf2::Span held(from.columns(kRegister));
  gf2::Vectors source, exchange;
  for (uint64_t element : to.columns(kRegister)) {
    const auto found = held.express(element);
    if (!found)
      return std::nullopt;
    source.push_back(*found);
  }
  const gf2::Vectors has = threadColumns(from), wants = threadColumns(to);
  assert(has.size() == wants.size());
  for (size_t i = 0; i < has.size(); ++i) {
    const auto found = held.express(has[i] ^ wants[i]);
    if (!found)
      return std::nullopt;
    exchange.push_back(*found);
  }
  return RegisterMove{selectsOf(exchange), registersOf(source)};
}

} // namespace tilejit::tilegpu
