// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// PTX inline assembly: its operands by constraints, its text statement by statement. Understands local registers,
// scopes, predicates, labels and branches; each statement is emitted by the rule of its mnemonic. What it can't read is
// an error of the decoder that shows the text.

#ifndef TILEJIT_SIMULATOR_DECODE_ASSEMBLY_H
#define TILEJIT_SIMULATOR_DECODE_ASSEMBLY_H

#include "decode/Decoder.h"

#include <optional>
#include <vector>

namespace tilejit::sim {

/// Decodes a call of inline assembly for an NVIDIA chip. False: the decoder has failed.
bool decodeInlineAssembly(Decoder &decoder, const Rules &rules, llvm::CallBase &call);

/// The operands $0, $1, ... of an inline assembly: a register each, as wide as the constraint says. Values that are
/// narrower or come in several scalars are packed before and unpacked after.
class AsmBindings {
public:
  AsmBindings(Decoder &decoder, llvm::CallBase &call) : d_(decoder), call_(call) {}
  /// Gives inputs their registers. False: the decoder has failed.
  bool begin();
  /// Hands outputs to the values of the call.
  void end();
  /// Operand $number, or nothing.
  std::optional<AsmOperand> operand(unsigned number) const;
  /// All registers, and those of the outputs, for their lifetimes.
  Regs registers() const;
  Regs outputRegisters() const;

private:
  struct Output {
    AsmOperand operand;
    Regs leaves;
    Leaves types;
  };
  AsmOperand makeOperand(llvm::StringRef letter, unsigned bits);
  AsmOperand outputOperand(llvm::StringRef letter, const Output &output);
  AsmOperand bindInput(llvm::StringRef letter, llvm::Value *value);
  void pack(const AsmOperand &to, const Regs &from, const Leaves &types);
  void unpack(const Output &output);
  Regs partsOf(const AsmOperand &operand) const;

  Decoder &d_;
  llvm::CallBase &call_;
  std::vector<AsmOperand> operands_;
  std::vector<Output> outputs_;
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_DECODE_ASSEMBLY_H
