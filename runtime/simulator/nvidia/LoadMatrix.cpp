// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rules of ldmatrix, stmatrix and movmatrix, by intrinsics and assembly. The shapes for 4, 6 and 8 bits belong to chips
// that are not simulated; they are refused by name.

#include "nvidia/LoadMatrix.h"

#include "core/Pointers.h"
#include "nvidia/Capability.h"
#include "nvidia/MatrixMemory.h"
#include "nvidia/Ptx.h"

namespace tilejit::sim {

namespace {

/// What a name says after ldmatrix or stmatrix.
struct Spec {
  unsigned count = 1;
  bool transposed = false;
  llvm::StringRef unknown; ///< A word that is not understood.
};

Spec parseSpec(llvm::ArrayRef<llvm::StringRef> words) {
  Spec spec;
  for (llvm::StringRef word : words) {
    if (word == "x1" || word == "x2" || word == "x4")
      spec.count = static_cast<unsigned>(word[1] - '0');
    else if (word == "trans")
      spec.transposed = true;
    else if (word != "sync" && word != "aligned" && word != "m8n8" && word != "b16" && !word.starts_with("shared") &&
             !(word.size() >= 2 && word[0] == 'p' && word[1] >= '0' && word[1] <= '9'))
      spec.unknown = word;
  }
  return spec;
}

bool accept(Decoder &decoder, const Spec &spec, bool store, llvm::StringRef text) {
  if (!spec.unknown.empty()) {
    decoder.fail("unsupported on " + llvm::StringRef(decoder.chip().info.name) + ": '" + spec.unknown + "' in '" +
                 text + "'");
    return false;
  }
  if (!needsChip(decoder, store ? 90 : 75, text))
    return false;
  decoder.noteSharedAccess(16, 16);
  return true;
}

void emitMatrices(Decoder &decoder, const Spec &spec, bool store, Reg address, unsigned space,
                  llvm::ArrayRef<Reg> regs) {
  int64_t imm = (spec.transposed ? matrixTransposed : 0) | int64_t(space) << matrixSpaceShift;
  Op &op = store ? decoder.emitWide(storeMatrices, {}, regs, imm) : decoder.emitWide(loadMatrices, regs, {}, imm);
  op.a = address;
  op.registers |= Op::HasA;
}

llvm::SmallVector<llvm::StringRef, 8> wordsAfter(llvm::StringRef name, llvm::StringRef prefix) {
  llvm::SmallVector<llvm::StringRef, 8> words;
  name.consume_front(prefix);
  name.split(words, '.', -1, false);
  return words;
}

void loadCall(Call &call) {
  Spec spec = parseSpec(wordsAfter(call.name, "llvm.nvvm.ldmatrix."));
  if (accept(call.decoder, spec, false, call.name))
    emitMatrices(call.decoder, spec, false, call.reg(0),
                 call.call.getArgOperand(0)->getType()->getPointerAddressSpace(), call.results());
}

void storeCall(Call &call) {
  Spec spec = parseSpec(wordsAfter(call.name, "llvm.nvvm.stmatrix."));
  if (!accept(call.decoder, spec, true, call.name))
    return;
  Regs regs;
  for (unsigned i = 1; i < call.size(); ++i)
    regs.push_back(call.reg(i));
  emitMatrices(call.decoder, spec, true, call.reg(0), call.call.getArgOperand(0)->getType()->getPointerAddressSpace(),
               regs);
}

/// Registers of an operand {a, b, ...} or a.
Regs groupOf(AsmStatement &s, unsigned operand) {
  Regs regs;
  if (s.operands[operand].form != AsmOperand::Form::Group)
    return {s.reg(operand, Kind::I32)};
  for (const AsmOperand &part : s.operands[operand].parts)
    regs.push_back(s.decoder.asmRegister(part, Kind::I32, s.text));
  return regs;
}

/// ldmatrix... {r, ...}, [p]; stmatrix... [p], {r, ...}.
void matrixStatement(AsmStatement &s) {
  bool store = s.words[0] == "stmatrix";
  Spec spec = parseSpec(llvm::ArrayRef(s.words).drop_front());
  if (!accept(s.decoder, spec, store, s.mnemonic))
    return;
  Regs regs;
  if (s.operands.size() == 2)
    regs = groupOf(s, store ? 1 : 0);
  if (regs.size() != spec.count)
    return s.decoder.fail("malformed assembly: '" + s.text + "' must have " + llvm::Twine(spec.count) +
                          " registers and an address");
  bool shared = s.has("shared") || s.has("shared::cta");
  emitMatrices(s.decoder, spec, store, s.address(store ? 0 : 1), shared ? sharedSpace : genericSpace, regs);
}

/// movmatrix.sync.aligned.m8n8.trans.b16 d, a.
void moveStatement(AsmStatement &s) {
  if (s.operands.size() != 2 || !s.has("trans") || !s.has("m8n8"))
    return unsupportedStatement(s);
  s.decoder.emit(transposeMatrix, s.reg(0, Kind::I32), {s.reg(1, Kind::I32)});
}

} // namespace

void addLoadMatrixRules(Rules &rules) {
  rules.callPrefix("llvm.nvvm.ldmatrix.", loadCall);
  rules.callPrefix("llvm.nvvm.stmatrix.", storeCall);
  rules.assembly("ldmatrix", matrixStatement);
  rules.assembly("stmatrix", matrixStatement);
  rules.assembly("movmatrix", moveStatement);
}

} // namespace tilejit::sim
