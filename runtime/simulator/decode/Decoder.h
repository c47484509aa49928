// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Turns one kernel of an LLVM module into a Program. This header is what families of instructions decode with: they
// register rules by the name of a called function or by the mnemonic of an assembly statement, and emit operations.

#ifndef TILEJIT_SIMULATOR_DECODE_DECODER_H
#define TILEJIT_SIMULATOR_DECODE_DECODER_H

#include "core/Chip.h"
#include "core/Program.h"

#include "tilejit/Base/Status.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace tilejit::sim {

/// One scalar of a flattened type.
struct Leaf {
  Kind kind;
  unsigned bits;         ///< Of integers; 64 for pointers (32-bit address spaces too: the upper half is zero).
  uint32_t offset;       ///< Byte offset in memory.
  unsigned addressSpace; ///< Of pointers.
};
using Leaves = llvm::SmallVector<Leaf, 4>;
using Regs = llvm::SmallVector<Reg, 8>;

class Decoder;

/// A call of an intrinsic or known function, while it is decoded.
struct Call {
  Decoder &decoder;
  llvm::CallBase &call;
  llvm::StringRef name;

  unsigned size() const { return call.arg_size(); }
  /// Registers of an argument's scalars; the one of a scalar argument.
  const Regs &regs(unsigned argument) const;
  Reg reg(unsigned argument) const;
  Kind kind(unsigned argument) const;
  /// All arguments' registers in a row.
  Regs allRegs() const;
  /// Value of an argument that must be a constant; an error names the call otherwise.
  int64_t constant(unsigned argument) const;
  /// Fresh registers for the result, in order of its scalars; each call once. `result` is for scalar results.
  const Regs &results() const;
  Reg result() const;
};

/// One statement of inline assembly: `@p mnemonic operands;`. Operands are registers, numbers, or brackets around them.
struct AsmOperand {
  enum class Form : uint8_t { Register, Number, Memory, Group, Ignored } form = Form::Register;
  Reg reg = 0;
  Kind kind = Kind::I32;
  int64_t number = 0;            ///< Number, or the displacement of Memory.
  bool hasReg = false;           ///< Memory: [reg + number] or [number].
  bool negated = false;          ///< !p
  std::vector<AsmOperand> parts; ///< Of Group {a, b} (also a|b, two results) and of Memory [a, {b, c}].
};
struct AsmStatement {
  Decoder &decoder;
  llvm::CallBase &call;
  llvm::StringRef text, mnemonic;              ///< As written: "mma.sync.aligned.m16n8k16...".
  llvm::SmallVector<llvm::StringRef, 8> words; ///< The mnemonic split at dots: "mma", "sync", ...
  std::vector<AsmOperand> operands;
  bool has(llvm::StringRef word) const;
  /// Register of an operand (numbers become constants of the kind, !p a negated copy), or an error.
  Reg reg(unsigned operand, Kind kind) const;
  /// A memory operand as one pointer register, 64 bits wide.
  Reg address(unsigned operand) const;
  int64_t number(unsigned operand) const;
};

using CallRule = void (*)(Call &call);
using AsmRule = void (*)(AsmStatement &statement);

/// Rules of all families. Exact names win over prefixes, longer prefixes over shorter ones.
class Rules {
public:
  void call(llvm::StringRef name, CallRule rule) { calls_[name] = rule; }
  /// All names that begin with `prefix`.
  void callPrefix(llvm::StringRef prefix, CallRule rule) { prefixes_[prefix] = rule; }
  /// Assembly statements by the first word of the mnemonic, or the first words: "cp.async".
  void assembly(llvm::StringRef words, AsmRule rule) { statements_[words] = rule; }

  CallRule findCall(llvm::StringRef name) const;
  AsmRule findAssembly(llvm::StringRef mnemonic) const;

private:
  llvm::StringMap<CallRule> calls_, prefixes_;
  llvm::StringMap<AsmRule> statements_;
};

/// Registration of the families; each is in the file of its family. Called once for each vendor.
void addCommonRules(Rules &rules);
void addNvidiaRules(Rules &rules);
void addAmdRules(Rules &rules);

class Decoder {
public:
  Decoder(llvm::Function &kernel, const Chip &chip, const Rules &rules, Program &program);
  /// Decodes all. Errors are collected by fail(); the first one is the answer.
  Status run();

  const Chip &chip() const { return chip_; }
  const llvm::DataLayout &layout() const { return layout_; }
  Program &program() { return program_; }
  unsigned width() const { return program_.width; }

  // --- Values ------------------------------------------------------------------------------------------------------
  Leaves leaves(llvm::Type *type) const;
  /// Registers of a value: of an instruction or argument, or of a constant.
  const Regs &regs(llvm::Value *value);
  Reg reg(llvm::Value *value);
  Kind kindOf(llvm::Type *scalar) const;
  Reg newReg(Kind kind);
  Kind kindOfReg(Reg reg) const { return kinds_[reg]; }
  /// A register that holds the same number in all lanes from the start; with base Shared, an address in the shared
  /// memory of the lanes' block.
  Reg constant(Kind kind, uint64_t bits, Constant::Base base = Constant::Base::None);
  /// Gives an instruction its registers (made with newReg or results of emitted operations).
  void define(llvm::Value *value, Regs regs);
  const Regs &freshResults(llvm::Value *value);

  // --- Operations --------------------------------------------------------------------------------------------------
  /// Appends an operation at the present site. Handlers come in two widths: choose with pick().
  Op &emit(Handler handler);
  /// d = handler(a, b, c); the kinds are the handler's business.
  Op &emit(Handler handler, Reg d, std::initializer_list<Reg> sources, int64_t imm = 0);
  /// An operation with many operands.
  Op &emitWide(Handler handler, llvm::ArrayRef<Reg> out, llvm::ArrayRef<Reg> in, int64_t imm = 0);
  /// Operand lists of an operation that was emitted by emitWide, to fill offsets, numbers, text, table.
  OpOperands &operandsOf(Op &op);
  Handler pick(Handler narrow, Handler wide) const { return program_.width == 64 ? wide : narrow; }
  /// Until the end of the scope, operations are predicated (assembly).
  void setPredicate(Reg predicate, bool negated);
  void clearPredicate() { predicated_ = false; }
  /// What an unsupported construct is answered with: names it and where it stands. The first one counts.
  void fail(const llvm::Twine &what);
  bool failed() const { return !status_.isOk(); }
  /// Conversion of a register to 64 bits (zero-extended), for addresses.
  Reg widen(Reg reg);
  /// A copy of a register.
  void copy(Reg to, Reg from);
  /// One register of an assembly operand; see AsmStatement::reg.
  Reg asmRegister(const AsmOperand &operand, Kind kind, llvm::StringRef text);
  /// Number of operations of the present basic block so far, and one of them.
  size_t operationCount() const { return block_->ops.size(); }
  Op &operation(size_t index) { return block_->ops[index]; }
  /// The carry flag of assembly, an I1 register.
  Reg carryFlag() {
    if (carry_ == ~0u)
      carry_ = newReg(Kind::I1);
    return carry_;
  }

  uint32_t site() const { return site_; }
  llvm::Instruction *instruction() const { return instruction_; }

  /// Notes an access to shared (or generic) memory: the granule of the shadow must divide it.
  void noteSharedAccess(uint64_t size, uint64_t alignment);

  /// The address of a module variable, as a register that holds it from the start.
  Reg addressOf(const llvm::GlobalVariable &variable, int64_t offset);
  /// Bytes of the lane's stack for a local variable; its offset.
  uint32_t allocateLocal(uint64_t bytes, uint64_t alignment);
  /// Registers that hold undefined values from the start (constants undef and poison).
  const std::vector<Reg> &undefined() const { return undefined_; }

private:
  void decodeBlocks();
  void decodeParameters();
  void decodeTerminator(llvm::Instruction &instruction, const llvm::DenseMap<llvm::BasicBlock *, uint32_t> &number);
  Regs constantRegs(llvm::Constant *constant);
  bool constantPointer(llvm::Constant *constant, Constant &value);
  uint32_t globalIndex(const llvm::GlobalVariable &variable);
  uint32_t sharedOffset(const llvm::GlobalVariable &variable);
  void placeShared();
  void initialBytes(const llvm::Constant *constant, uint64_t offset, uint32_t global);

  const Chip &chip_;
  const Rules &rules_;
  Program &program_;
  const llvm::DataLayout &layout_;
  llvm::Function &kernel_;
  std::vector<Kind> kinds_; ///< Of each register.
  llvm::DenseMap<llvm::Value *, Regs> values_;
  llvm::DenseMap<const llvm::GlobalVariable *, uint32_t> globals_, shared_;
  std::vector<std::pair<std::tuple<Kind, uint64_t, Constant::Base>, Reg>> constants_;
  std::vector<Reg> undefined_;
  BasicBlock *block_ = nullptr;
  llvm::Instruction *instruction_ = nullptr;
  uint32_t site_ = 0;
  bool predicated_ = false, negated_ = false;
  Reg predicate_ = 0, carry_ = ~0u;
  Status status_;
};

/// Decodes one instruction that is no phi, terminator, call or memory access.
void decodeArithmetic(Decoder &decoder, llvm::Instruction &instruction);
/// Loads, stores, addresses, local variables, casts between address spaces.
void decodeMemory(Decoder &decoder, llvm::Instruction &instruction);
/// llvm.masked.load and llvm.masked.store with a constant mask: the elements that it names, one by one.
void decodeMaskedAccess(Decoder &decoder, llvm::CallBase &call);
/// Calls by the rules, inline assembly by the vendor's parser.
void decodeCall(Decoder &decoder, const Rules &rules, llvm::CallBase &call);
/// Blocks in the order in which divided lanes meet again soonest.
std::vector<llvm::BasicBlock *> orderBlocks(llvm::Function &kernel);
/// Gives every register a place in the register file; numbers become byte offsets.
void allocateRegisters(Program &program, const std::vector<Kind> &kinds);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_DECODE_DECODER_H
