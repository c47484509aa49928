// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Copies that need not be made: phis of loops and tied operands of assembly, whose source ends where the copy begins.
// Both get one place in the register file if no other copy has put something there that lives at the same time. Often a
// phi ends where the next value of it is made, as a counter does; operations that make each lane of that value of the
// same lane of their sources may do so in place.

#include "core/Handlers.h"
#include "decode/Registers.h"

#include <algorithm>
#include <unordered_set>

namespace tilejit::sim {

bool isPlainCopy(const Op &op, unsigned width) {
  if (op.registers & Op::HasPredicate)
    return false;
  return op.run == copyHandler(Kind::I32, width) || op.run == copyHandler(Kind::I64, width) ||
         op.run == copyHandler(Kind::I16, width) || op.run == copyHandler(Kind::I8, width);
}

/// Handlers of operations that may have their result in the place of a source of the same size.
static std::unordered_set<Handler> handlersInPlace(unsigned width) {
  std::unordered_set<Handler> handlers{displacementHandler(width)};
  for (Kind kind : {Kind::I8, Kind::I16, Kind::I32, Kind::I64, Kind::F16, Kind::BF16, Kind::F32, Kind::F64}) {
    for (Handler handler : {selectHandler(kind, width), copyHandler(kind, width), addressHandler(kind, width)})
      handlers.insert(handler);
    for (unsigned i = 0; i <= static_cast<unsigned>(IntegerOp::SMax); ++i)
      handlers.insert(integerHandler(static_cast<IntegerOp>(i), kind, width));
    for (unsigned i = 0; i <= static_cast<unsigned>(FloatOp::Rem); ++i)
      handlers.insert(floatHandler(static_cast<FloatOp>(i), kind, width));
    handlers.insert(fusedMultiplyAddHandler(kind, width));
  }
  handlers.erase(nullptr);
  return handlers;
}

SharedPlaces::SharedPlaces(Program &program, const std::vector<Kind> &kinds, const Liveness &live,
                           const std::vector<bool> &fixed)
    : standIn_(kinds.size()), ranges_(kinds.size()) {
  for (Reg reg = 0; reg < kinds.size(); ++reg)
    standIn_[reg] = reg;
  findRanges(program, live);
  auto copied = [&](Reg to, Reg from) {
    if (!fixed[to] && !fixed[from] && sizeOf(kinds[to]) == sizeOf(kinds[from]))
      join(to, from);
  };
  for (const BasicBlock &block : program.blocks)
    for (const Edge &edge : block.edges)
      for (const EdgeCopy &copy : edge.copies)
        copied(copy.to, copy.from);
  for (const BasicBlock &block : program.blocks)
    for (const Op &op : block.ops)
      if (isPlainCopy(op, program.width))
        copied(op.d, op.a);
}

/// One range for each block in which a register lives: assembly may branch within a block, so that a second write does
/// not end the life of what the first one wrote.
void SharedPlaces::findRanges(Program &program, const Liveness &live) {
  auto count = static_cast<unsigned>(standIn_.size());
  std::vector<llvm::BitVector> atBegin = live.in;
  for (const BasicBlock &block : program.blocks)
    for (const Edge &edge : block.edges)
      for (const EdgeCopy &copy : edge.copies)
        atBegin[edge.target].set(copy.to); // Even if nobody reads it.
  std::unordered_set<Handler> inPlace = handlersInPlace(program.width);
  std::vector<Range> here(count);
  llvm::BitVector touched(count);
  uint32_t moment = 0;
  auto touch = [&](Reg reg, uint32_t first, uint32_t last) {
    if (!touched[reg])
      here[reg] = {first, last};
    here[reg] = {std::min(here[reg].first, first), std::max(here[reg].last, last)};
    touched.set(reg);
  };
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    touched.reset();
    for (unsigned reg : atBegin[b].set_bits())
      touch(reg, moment, moment);
    for (Op &op : program.blocks[b].ops) {
      bool apart = inPlace.count(op.run) != 0;
      forEachRegister(
          op, [&](Reg &reg) { touch(reg, moment, apart ? moment : moment + 1); },
          [&](Reg &reg) { touch(reg, apart ? moment + 1 : moment, moment + 1); });
      moment += 2;
    }
    for (const Edge &edge : program.blocks[b].edges)
      for (const EdgeCopy &copy : edge.copies)
        touch(copy.from, moment, moment);
    for (unsigned reg : live.out[b].set_bits())
      touch(reg, moment, moment + 1);
    moment += 2;
    for (unsigned reg : touched.set_bits())
      ranges_[reg].push_back(here[reg]);
  }
}

void SharedPlaces::join(Reg a, Reg b) {
  a = (*this)[a];
  b = (*this)[b];
  if (a == b || ranges_[a].empty() || ranges_[b].empty())
    return;
  const std::vector<Range> &first = ranges_[a], &second = ranges_[b];
  for (size_t i = 0, j = 0; i < first.size() && j < second.size();) {
    if (first[i].first <= second[j].last && second[j].first <= first[i].last)
      return;
    ++(first[i].last < second[j].last ? i : j);
  }
  std::vector<Range> both(first.size() + second.size());
  std::merge(first.begin(), first.end(), second.begin(), second.end(), both.begin(),
             [](const Range &x, const Range &y) { return x.first < y.first; });
  ranges_[a] = std::move(both);
  ranges_[b].clear();
  standIn_[b] = a;
}

Reg SharedPlaces::operator[](Reg reg) const {
  while (standIn_[reg] != reg)
    reg = standIn_[reg];
  return reg;
}

} // namespace tilejit::sim
