// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Registers the families of AMD instructions.

#include "amd/Rules.h"

#include "amd/Elementwise.h"

#include <algorithm>

namespace tilejit::sim {

void addAmdRules(Rules &rules) {
  addAmdIdRules(rules);
  addAmdLaneRules(rules);
  addAmdCrossLaneRules(rules);
  addAmdSynchronizationRules(rules);
  addAmdMatrixRules(rules);
  addAmdDotRules(rules);
  addAmdBufferRules(rules);
  addAmdLdsLoadRules(rules);
  addAmdLdsTransposeRules(rules);
  addAmdAtomicRules(rules);
  addAmdMathRules(rules);
  addAmdIntegerRules(rules);
  addAmdConversionRules(rules);
  addAmdScaledConversionRules(rules);
}

bool requireChips(Call &call, uint32_t chips) {
  if (chipIsAmong(call.decoder, chips))
    return true;
  call.decoder.fail(llvm::Twine("unsupported instruction: ") + llvm::StringRef(call.decoder.chip().info.name) +
                    " has no " + call.name);
  return false;
}

Op &emitOn(Decoder &decoder, Handler narrow, Handler wide, llvm::ArrayRef<Reg> out, llvm::ArrayRef<Reg> in,
           int64_t imm) {
  return decoder.emitWide(decoder.pick(narrow, wide), out, in, imm);
}

Op &emitCall(Call &call, Handler narrow, Handler wide, int64_t imm) {
  Regs out;
  if (!call.call.getType()->isVoidTy())
    out = call.results();
  return emitOn(call.decoder, narrow, wide, out, call.allRegs(), imm);
}

void emitLaneRow(Call &call, std::span<const LaneRow> rows) {
  Decoder &decoder = call.decoder;
  llvm::StringRef name = shortName(call);
  Regs first = call.regs(0);
  const LaneRow *found = nullptr;
  for (const LaneRow &row : rows)
    if (isNamed(name, row.name) && row.kind == decoder.kindOfReg(first[0]))
      if (!found || llvm::StringRef(row.name).size() > llvm::StringRef(found->name).size())
        found = &row;
  if (!found)
    return decoder.fail(llvm::Twine("unsupported type of ") + call.name);
  if (!requireChips(call, found->chips))
    return;
  int64_t imm = 0;
  unsigned arguments = call.size();
  if (call.call.paramHasAttr(arguments - 1, llvm::Attribute::ImmArg))
    imm = call.constant(--arguments);
  Regs out = call.results();
  for (size_t i = 0; i < out.size(); ++i) {
    Op &op = decoder.emit(decoder.pick(found->handlers.narrow, found->handlers.wide), out[i], {}, imm);
    uint32_t *slots[] = {&op.a, &op.b, &op.c};
    for (unsigned argument = 0; argument < arguments && argument < 3; ++argument) {
      const Regs &regs = call.regs(argument);
      *slots[argument] = regs[std::min(i, regs.size() - 1)];
      op.registers |= static_cast<uint8_t>(Op::HasA << argument);
    }
  }
}

} // namespace tilejit::sim
