// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Other forms of sides: see the header.

#include "Sides.h"

#include "Steps.h"

namespace tilejit::tilegpu {

namespace {

LinearLayout withColumns(const LinearLayout &layout, const gf2::Vectors &registers, const gf2::Vectors &threads) {
  Dims ins = layout.ins();
  ins.front().bits = static_cast<int>(registers.size());
  return {std::move(ins), layout.outs(), gf2::concat(registers, threads)};
}

} // namespace

Side plainSide(const LinearLayout &layout) {
  return {layout, gf2::units(0, layout.inBits(kRegister)), gf2::Vectors(threadColumns(layout).size())};
}

std::optional<Side> spreadCopies(const LinearLayout &layout) {
  Side side = plainSide(layout);
  gf2::Vectors registers = layout.columns(kRegister), threads = threadColumns(layout);
  for (size_t i = 0; i < threads.size() && !registers.empty(); ++i) {
    if (threads[i] != 0)
      continue;
    // High registers first: low ones are likelier to lie side by side in memory.
    threads[i] = registers.back();
    side.exchange[i] = side.registers.back();
    registers.pop_back();
    side.registers.pop_back();
  }
  if (registers.size() == static_cast<size_t>(layout.inBits(kRegister)))
    return std::nullopt;
  side.layout = withColumns(layout, registers, threads);
  return side;
}

// --- Cuts
// --------------------------------------------------------------------------------------------------------------

uint64_t Cut::partOf(uint64_t element) const {
  uint64_t part = 0;
  for (size_t i = 0; i < functionals.size(); ++i)
    part |= uint64_t(gf2::parity(functionals[i] & element)) << i;
  return part;
}

namespace {

/// A basis of the functionals that are zero on all `elements` (at most 63) of a tile with so many bits.
gf2::Vectors annihilators(const gf2::Vectors &elements, int tileBits) {
  const gf2::Vectors basis = gf2::independent(elements);
  gf2::Vectors rows(static_cast<size_t>(tileBits));
  for (size_t e = 0; e < basis.size(); ++e)
    for (size_t bit = 0; bit < rows.size(); ++bit)
      rows[bit] |= (basis[e] >> bit & 1) << e;
  return gf2::kernel(rows);
}

/// The functional on registers that a functional on elements makes, as the set of registers on which it is 1.
uint64_t onRegisters(uint64_t functional, const gf2::Vectors &registers) {
  uint64_t set = 0;
  for (size_t i = 0; i < registers.size(); ++i)
    set |= uint64_t(gf2::parity(functional & registers[i])) << i;
  return set;
}

} // namespace

std::optional<Cut> chooseCut(const LinearLayout &from, const LinearLayout &to, int bits, const gf2::Vectors &together) {
  const gf2::Vectors written = from.columns(kRegister), read = to.columns(kRegister), fromThreads = threadColumns(from),
                     toThreads = threadColumns(to), threads = gf2::concat(fromThreads, toThreads);
  gf2::Vectors candidates;
  for (const gf2::Vectors &zero : {gf2::concat(threads, together), threads, gf2::concat(fromThreads, together),
                                   gf2::concat(toThreads, together), together, gf2::Vectors()})
    candidates = gf2::concat(candidates, annihilators(zero, from.outBits()));
  Cut cut;
  gf2::Span onWritten, onRead;
  for (uint64_t functional : candidates) {
    if (static_cast<int>(cut.functionals.size()) == bits)
      break;
    const uint64_t w = onRegisters(functional, written), r = onRegisters(functional, read);
    if (onWritten.contains(w) || onRead.contains(r))
      continue;
    onWritten.add(w);
    onRead.add(r);
    cut.functionals.push_back(functional);
  }
  if (static_cast<int>(cut.functionals.size()) < bits)
    return std::nullopt;
  return cut;
}

PartialSide cutSide(const Side &side, const Cut &cut) {
  const gf2::Vectors registers = side.layout.columns(kRegister);
  gf2::Vectors parts;
  for (uint64_t element : registers)
    parts.push_back(cut.partOf(element));
  // Registers that lead to each part, and those that stay in theirs.
  const gf2::Span reached(parts);
  PartialSide result{side, {}};
  for (uint64_t unit : gf2::units(0, static_cast<int>(cut.functionals.size())))
    result.partRegister.push_back(*reached.express(unit));
  const gf2::Vectors staying = gf2::kernel(parts);
  // Threads whose elements are in other parts begin with other registers.
  gf2::Vectors threads = threadColumns(side.layout);
  for (size_t i = 0; i < threads.size(); ++i) {
    const uint64_t turned = gf2::combine(result.partRegister, cut.partOf(threads[i]));
    threads[i] ^= gf2::combine(registers, turned);
    result.side.exchange[i] ^= gf2::combine(side.registers, turned);
  }
  result.side.registers = gf2::combineEach(side.registers, staying);
  result.side.layout = withColumns(side.layout, gf2::combineEach(registers, staying), threads);
  return result;
}

} // namespace tilejit::tilegpu
