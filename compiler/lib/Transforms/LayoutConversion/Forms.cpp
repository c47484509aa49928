// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Ways through shared memory in the form that costs least: with or without copies that share the work of storing, and
// cut into passes where memory is short.

#include "Sides.h"
#include "Steps.h"

#include <algorithm>

namespace tilejit::tilegpu {

namespace {

int logOf(uint64_t value) { return std::countr_zero(value); }

/// Where the registers of the parts are, and how the addresses of a part differ from those of part 0.
struct Parts {
  gf2::Vectors registers; ///< Of the original side, for each bit of the part.
  gf2::Vectors offsets;
};

/// Translates an access that was planned for a form of the side back to the registers of the side.
void translate(MemoryAccess &access, const Side &side, const Parts &parts) {
  std::vector<AccessGroup> groups;
  for (uint64_t part = 0; part < uint64_t(1) << parts.registers.size(); ++part)
    for (AccessGroup group : access.groups) {
      for (unsigned &r : group.registers)
        r = static_cast<unsigned>(gf2::combine(side.registers, r) ^ gf2::combine(parts.registers, part));
      group.offset ^= gf2::combine(parts.offsets, part);
      groups.push_back(std::move(group));
    }
  access.groups = std::move(groups);
  access.wavefronts <<= parts.registers.size();
  access.wavefrontsElse <<= parts.registers.size();
  access.idealWavefronts <<= parts.registers.size();
  // All exchanges are xors, so that they add up.
  gf2::Vectors exchange = side.exchange;
  for (const Select &select : access.selects)
    for (size_t i = 0; i < exchange.size(); ++i)
      if (select.threadMask >> i & 1)
        exchange[i] ^= gf2::combine(side.registers, select.exchange);
  access.selects = selectsOf(exchange);
}

/// Moves an address inside of a vector out of the offset: to another register. False if the access has a fixed order.
bool align(const MemoryAccess &access, const Side &side, uint64_t &offset, uint64_t &reg) {
  const uint64_t inVector = offset & static_cast<uint64_t>(access.vectorElements - 1);
  if (inVector == 0)
    return true;
  if (access.kind != SharedAccess::Plain)
    return false;
  // Registers of a group are an affine image of the places in the vector.
  const std::vector<unsigned> &registers = access.groups.front().registers;
  reg ^= gf2::combine(side.registers, registers[inVector] ^ registers.front());
  offset ^= inVector;
  return true;
}

std::optional<SharedMove> planCut(const Side &from, const Side &to, const SharedMove &whole,
                                  const ConversionOptions &options) {
  if (options.memory || options.store == SharedAccess::AsyncCopy)
    return std::nullopt;
  int bits = 0;
  while (whole.bytes >> bits > options.maxBytes)
    ++bits;
  const auto together =
      std::min<size_t>(whole.memory.columns().size(),
                       static_cast<size_t>(logOf(128) - logOf(static_cast<uint64_t>(options.elementBits))));
  const gf2::Vectors &low = whole.memory.columns();
  const auto cut =
      chooseCut(from.layout, to.layout, bits, {low.begin(), low.begin() + static_cast<ptrdiff_t>(together)});
  if (!cut)
    return std::nullopt;
  const PartialSide written = cutSide(from, *cut), read = cutSide(to, *cut);
  auto move = planOnePass(written.side.layout, read.side.layout, options);
  if (!move || move->bytes > options.maxBytes)
    return std::nullopt;
  // The registers that lead to a part hold different elements on both sides: one of them has another address there.
  const gf2::Span inMemory(move->memory.columns());
  Parts ofStore{gf2::combineEach(from.registers, written.partRegister), gf2::Vectors(static_cast<size_t>(bits))};
  Parts ofLoad{gf2::combineEach(to.registers, read.partRegister), gf2::Vectors(static_cast<size_t>(bits))};
  const bool byStore = move->load.kind != SharedAccess::Plain;
  for (size_t i = 0; i < static_cast<size_t>(bits); ++i) {
    Parts &moved = byStore ? ofStore : ofLoad;
    moved.offsets[i] =
        *inMemory.express(from.layout.apply(written.partRegister[i]) ^ to.layout.apply(read.partRegister[i]));
    if (!align(byStore ? move->store : move->load, byStore ? written.side : read.side, moved.offsets[i],
               moved.registers[i]))
      return std::nullopt;
  }
  translate(move->store, written.side, ofStore);
  translate(move->load, read.side, ofLoad);
  move->passes = 1 << bits;
  return move;
}

std::optional<SharedMove> planForm(const Side &from, const Side &to, const ConversionOptions &options) {
  auto move = planOnePass(from.layout, to.layout, options);
  if (move && options.maxBytes != 0 && move->bytes > options.maxBytes)
    return planCut(from, to, *move, options);
  if (move) {
    translate(move->store, from, {});
    translate(move->load, to, {});
  }
  return move;
}

} // namespace

std::optional<SharedMove> planSharedMemory(const LinearLayout &from, const LinearLayout &to,
                                           const ConversionOptions &options) {
  const Side result = plainSide(to);
  auto best = planForm(plainSide(from), result, options);
  if (options.store != SharedAccess::Plain || !options.spreadCopies)
    return best;
  if (const auto spread = spreadCopies(from))
    if (auto shared = planForm(*spread, result, options);
        shared && (!best || rankOf(*shared, options) < rankOf(*best, options)))
      best = std::move(shared);
  return best;
}

} // namespace tilejit::tilegpu
