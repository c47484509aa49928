// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loads from LDS that transpose (gfx950): what a lane gives the address of goes to other lanes of its row of 16. The 16
// pieces that the lanes of a row name, in order of the lanes, are a matrix with 16 elements in each line; lane i of the
// row receives column i. Source: "MFMA Transpose Load from LDS" of the CDNA 4 instruction set, and the places that the
// tests of AMD's rocRoller find on the chip.

#include "amd/Rules.h"
#include "core/Block.h"

#include <cstring>

namespace tilejit::sim {

namespace {

constexpr unsigned lanes = 64; ///< The chip has no other waves.
constexpr unsigned rowLanes = 16, columns = 16;
constexpr unsigned mostBytes = 12;
constexpr uint8_t untouched = 0xbd;

/// One form of the instruction.
struct Form {
  const char *name;
  unsigned bits;      ///< Of an element.
  unsigned bytes;     ///< That a lane reads, and receives.
  unsigned alignment; ///< Of its address. Of 12 bytes it is 16.
};
constexpr Form forms[] = {{"llvm.amdgcn.ds.read.tr4.b64", 4, 8, 8},
                          {"llvm.amdgcn.ds.read.tr6.b96", 6, 12, 16},
                          {"llvm.amdgcn.ds.read.tr8.b64", 8, 8, 8},
                          {"llvm.amdgcn.ds.read.tr16.b64", 16, 8, 8}};

/// A string of up to 96 bits, as elements of a few bits each.
struct Piece {
  uint8_t bytes[mostBytes + 4] = {}; ///< With room for words that begin at the last byte.

  uint32_t element(unsigned index, unsigned bits) const {
    uint32_t word;
    std::memcpy(&word, bytes + index * bits / 8, sizeof word);
    return word >> (index * bits % 8) & ((1u << bits) - 1);
  }
  /// The bits must be zero before.
  void setElement(unsigned index, unsigned bits, uint32_t value) {
    uint32_t word;
    std::memcpy(&word, bytes + index * bits / 8, sizeof word);
    word |= value << (index * bits % 8);
    std::memcpy(bytes + index * bits / 8, &word, sizeof word);
  }
};

/// Column `lane % 16` of the matrix that a row of lanes has read.
Piece columnOf(const Piece *read, unsigned lane, const Form &form) {
  Piece result;
  unsigned perLane = form.bytes * 8 / form.bits, first = lane / rowLanes * rowLanes, column = lane % columns;
  for (unsigned line = 0; line < perLane; ++line) {
    unsigned place = line * columns + column;
    result.setElement(line, form.bits, read[first + place / perLane].element(place % perLane, form.bits));
  }
  return result;
}

void checkLanes(Warp &warp, const Op &op) {
  if (warp.mask == allLanes<lanes> || !warp.block->checks(Check::Divergence))
    return;
  warp.block->report(ReportKind::Divergence, op.site, warp, firstLane(~warp.mask),
                     "a transposing load with only " + std::to_string(countLanes(warp.mask)) +
                         " of 64 lanes active, which hand each other what they read; missing",
                     "execute it with whole waves: make the branch uniform and the block a multiple of the wave");
}

/// x->out = the lane's column, from register to register; a: pointer to LDS; table: Form.
void loadTransposed(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  const Form &form = *static_cast<const Form *>(x.table);
  checkLanes(warp, op);
  const uint64_t *address = warp.reg<uint64_t>(op.a);
  Access access{.size = form.bytes, .alignment = form.alignment, .site = op.site};
  LaneMask ok = warp.block->access(warp, Space::Shared, address, warp.mask, access);
  Piece read[lanes];
  for (unsigned l = 0; l < lanes; ++l)
    if (ok >> l & 1)
      std::memcpy(read[l].bytes, warp.block->shared.data() + address[l], form.bytes);
    else
      std::memset(read[l].bytes, untouched, form.bytes);
  forEachLane(warp.mask, [&](unsigned l) {
    const Piece column = columnOf(read, l, form);
    unsigned done = 0;
    for (size_t i = 0; i < x.out.size(); ++i) {
      unsigned size = sizeOf(x.outKinds[i]);
      std::memcpy(warp.registers + x.out[i] + size_t(l) * size, column.bytes + done, size);
      done += size;
    }
  });
}

void loadRule(Call &call) {
  Decoder &decoder = call.decoder;
  for (const Form &form : forms)
    if (isNamed(call.name, form.name)) {
      if (!requireChips(call, chipsCdna4))
        return;
      decoder.noteSharedAccess(form.bytes, form.bytes & (0u - form.bytes));
      Op &op = decoder.emitWide(loadTransposed, call.results(), {});
      op.a = call.reg(0);
      op.registers |= Op::HasA;
      decoder.operandsOf(op).table = &form;
      return;
    }
  decoder.fail("unsupported intrinsic '" + call.name + "'");
}

} // namespace

void addAmdLdsTransposeRules(Rules &rules) { rules.callPrefix("llvm.amdgcn.ds.read.tr", loadRule); }

} // namespace tilejit::sim
