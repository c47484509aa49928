// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operands of inline assembly: constraints to registers and back, and how rules read the operands of a statement.

#include "decode/Assembly.h"

#include "core/Handlers.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"

#include <algorithm>

namespace tilejit::sim {

namespace {

/// Registers of PTX by constraint letter.
struct Letter {
  llvm::StringRef letter;
  Kind kind;
  unsigned parts; ///< Registers of 64 bits that make one of 128.
};
constexpr Letter letters[] = {
    {"b", Kind::I1, 1},  {"c", Kind::I16, 1}, {"h", Kind::I16, 1}, {"r", Kind::I32, 1}, {"l", Kind::I64, 1},
    {"N", Kind::I64, 1}, {"q", Kind::I64, 2}, {"f", Kind::F32, 1}, {"d", Kind::F64, 1},
};

const Letter *findLetter(llvm::StringRef name) {
  const auto *found = std::find_if(std::begin(letters), std::end(letters), [&](auto &l) { return l.letter == name; });
  return found == std::end(letters) ? nullptr : found;
}

/// The integer kind of the same size.
Kind integerOf(Kind kind) {
  switch (sizeOf(kind)) {
  case 1:
    return Kind::I8;
  case 2:
    return Kind::I16;
  case 4:
    return Kind::I32;
  default:
    return Kind::I64;
  }
}

unsigned totalBits(const Leaves &types) {
  unsigned bits = 0;
  for (const Leaf &leaf : types)
    bits += leaf.bits;
  return bits;
}

} // namespace

AsmOperand AsmBindings::makeOperand(llvm::StringRef name, unsigned bits) {
  AsmOperand operand;
  const Letter *letter = findLetter(name);
  if (!letter) {
    d_.fail("unsupported constraint '" + name + "' of inline assembly");
    return operand;
  }
  if (bits > 8 * sizeOf(letter->kind) * letter->parts && bits > 1) {
    d_.fail("a value of " + llvm::Twine(bits) + " bits does not fit the constraint '" + name + "' of inline assembly");
    return operand;
  }
  operand.kind = letter->kind;
  if (letter->parts == 1) {
    operand.reg = d_.newReg(letter->kind);
    return operand;
  }
  operand.form = AsmOperand::Form::Group;
  for (unsigned i = 0; i < letter->parts; ++i) {
    AsmOperand part;
    part.kind = letter->kind;
    part.reg = d_.newReg(letter->kind);
    operand.parts.push_back(part);
  }
  return operand;
}

Regs AsmBindings::partsOf(const AsmOperand &operand) const {
  Regs regs;
  if (operand.form == AsmOperand::Form::Register)
    regs.push_back(operand.reg);
  for (const AsmOperand &part : operand.parts)
    regs.push_back(part.reg);
  return regs;
}

/// Puts the scalars of a value into the registers of an operand.
void AsmBindings::pack(const AsmOperand &to, const Regs &from, const Leaves &types) {
  Regs parts = partsOf(to);
  if (from.size() == 1 && parts.size() == 1) {
    unsigned size = sizeOf(types[0].kind), wanted = sizeOf(to.kind);
    if (size == wanted)
      d_.copy(parts[0], from[0]);
    else
      d_.emit(convertHandler(integerOf(to.kind), integerOf(types[0].kind), false, d_.width()), parts[0], {from[0]});
    return;
  }
  if (from.size() == parts.size()) {
    for (size_t i = 0; i < parts.size(); ++i)
      d_.copy(parts[i], from[i]);
    return;
  }
  Op &op = d_.emitWide(bitcastHandler(d_.width()), parts, from);
  OpOperands &x = d_.operandsOf(op);
  bool whole = true;
  for (const Leaf &leaf : types) {
    x.numbers.push_back(leaf.bits);
    whole &= leaf.bits == 8 * sizeOf(leaf.kind);
  }
  for (size_t i = 0; i < parts.size(); ++i)
    x.numbers.push_back(8 * sizeOf(to.kind));
  op.imm = whole && totalBits(types) == 8 * sizeOf(to.kind) * parts.size() ? 0 : 1;
}

void AsmBindings::unpack(const Output &output) {
  Regs parts = partsOf(output.operand);
  const Regs &to = output.leaves;
  if (to.size() == 1 && parts.size() == 1) {
    const Leaf &leaf = output.types[0];
    Kind from = integerOf(output.operand.kind), target = integerOf(leaf.kind);
    if (to[0] == parts[0])
      return;
    if (sizeOf(leaf.kind) == sizeOf(from)) {
      d_.copy(to[0], parts[0]);
      return;
    }
    if (leaf.bits == 8 * sizeOf(leaf.kind)) {
      d_.emit(convertHandler(target, from, false, d_.width()), to[0], {parts[0]});
      return;
    }
    Reg narrow = d_.newReg(target);
    d_.emit(convertHandler(target, from, false, d_.width()), narrow, {parts[0]});
    d_.emit(maskHandler(target, d_.width()), to[0], {narrow}, leaf.bits);
    return;
  }
  if (to.size() == parts.size()) {
    for (size_t i = 0; i < parts.size(); ++i)
      d_.copy(to[i], parts[i]);
    return;
  }
  Op &op = d_.emitWide(bitcastHandler(d_.width()), to, parts);
  OpOperands &x = d_.operandsOf(op);
  for (size_t i = 0; i < parts.size(); ++i)
    x.numbers.push_back(8 * sizeOf(output.operand.kind));
  bool whole = true;
  for (const Leaf &leaf : output.types) {
    x.numbers.push_back(leaf.bits);
    whole &= leaf.bits == 8 * sizeOf(leaf.kind);
  }
  op.imm = whole && totalBits(output.types) == 8 * sizeOf(output.operand.kind) * parts.size() ? 0 : 1;
}

AsmOperand AsmBindings::bindInput(llvm::StringRef letter, llvm::Value *value) {
  if (!findLetter(letter)) {
    AsmOperand operand;
    operand.form = AsmOperand::Form::Number;
    if (auto *integer = llvm::dyn_cast<llvm::ConstantInt>(value); integer && integer->getBitWidth() <= 64) {
      operand.number = integer->getSExtValue();
      return operand;
    }
    if (auto *real = llvm::dyn_cast<llvm::ConstantFP>(value)) {
      operand.number = static_cast<int64_t>(real->getValueAPF().bitcastToAPInt().getZExtValue());
      operand.kind = real->getType()->isDoubleTy() ? Kind::F64 : Kind::F32;
      return operand;
    }
    d_.fail("unsupported constraint '" + letter + "' of inline assembly");
    return operand;
  }
  Leaves types = d_.leaves(value->getType());
  const Regs from = d_.regs(value);
  const Letter &kind = *findLetter(letter);
  if (from.size() == 1 && kind.parts == 1 && sizeOf(types[0].kind) == sizeOf(kind.kind)) {
    AsmOperand operand; // As it is: rules read bits.
    operand.kind = kind.kind;
    operand.reg = from[0];
    return operand;
  }
  // Pointers to shared memory are 32 bits wide for PTX and 64 for us.
  bool shortPointer = from.size() == 1 && types[0].kind == Kind::Pointer && sizeOf(kind.kind) == 4;
  AsmOperand operand = makeOperand(letter, shortPointer ? 32 : totalBits(types));
  if (!d_.failed())
    pack(operand, from, types);
  return operand;
}

/// The register of the result itself where it fits, a fresh one elsewhere.
AsmOperand AsmBindings::outputOperand(llvm::StringRef name, const Output &output) {
  const Letter *letter = findLetter(name);
  bool single = output.types.size() == 1 && letter && letter->parts == 1;
  if (single && sizeOf(letter->kind) == sizeOf(output.types[0].kind) &&
      (output.types[0].bits == 8 * sizeOf(letter->kind) || letter->kind == Kind::I1)) {
    AsmOperand operand;
    operand.kind = letter->kind;
    operand.reg = output.leaves[0];
    return operand;
  }
  bool shortPointer = single && output.types[0].kind == Kind::Pointer && sizeOf(letter->kind) == 4;
  return makeOperand(name, shortPointer ? 32 : totalBits(output.types));
}

bool AsmBindings::begin() {
  auto *assembly = llvm::cast<llvm::InlineAsm>(call_.getCalledOperand());
  const Regs results = call_.getType()->isVoidTy() ? Regs() : d_.freshResults(&call_);
  std::vector<llvm::Type *> types;
  if (auto *structure = llvm::dyn_cast<llvm::StructType>(call_.getType()))
    types.assign(structure->element_begin(), structure->element_end());
  else if (!call_.getType()->isVoidTy())
    types.push_back(call_.getType());
  unsigned argument = 0;
  size_t leaf = 0;
  for (const llvm::InlineAsm::ConstraintInfo &constraint : assembly->ParseConstraints()) {
    if (constraint.Type == llvm::InlineAsm::isClobber)
      continue;
    if (constraint.Type == llvm::InlineAsm::isLabel || constraint.isIndirect || constraint.Codes.empty()) {
      d_.fail("unsupported kind of constraint in inline assembly");
      return false;
    }
    llvm::StringRef letter = constraint.Codes[0];
    if (constraint.Type == llvm::InlineAsm::isOutput) {
      Output output;
      output.types = d_.leaves(types[outputs_.size()]);
      for (size_t i = 0; i < output.types.size(); ++i)
        output.leaves.push_back(results[leaf++]);
      output.operand = outputOperand(letter, output);
      operands_.push_back(output.operand);
      outputs_.push_back(std::move(output));
      if (d_.failed())
        return false;
      continue;
    }
    llvm::Value *value = call_.getArgOperand(argument++);
    unsigned tied = 0;
    if (letter.getAsInteger(10, tied)) {
      operands_.push_back(bindInput(letter, value));
    } else if (tied < operands_.size()) {
      pack(operands_[tied], d_.regs(value), d_.leaves(value->getType()));
      operands_.push_back(operands_[tied]);
    } else {
      d_.fail("inline assembly ties an operand to one that does not exist");
    }
    if (d_.failed())
      return false;
  }
  return true;
}

void AsmBindings::end() {
  for (const Output &output : outputs_)
    unpack(output);
}

std::optional<AsmOperand> AsmBindings::operand(unsigned number) const {
  if (number >= operands_.size())
    return std::nullopt;
  return operands_[number];
}

Regs AsmBindings::registers() const {
  Regs all;
  for (const AsmOperand &operand : operands_)
    all.append(partsOf(operand));
  return all;
}

Regs AsmBindings::outputRegisters() const {
  Regs all;
  for (const Output &output : outputs_)
    all.append(partsOf(output.operand));
  return all;
}

// --- What rules ask ------------------------------------------------------------------------------------------------

bool AsmStatement::has(llvm::StringRef word) const { return llvm::is_contained(words, word); }

Reg AsmStatement::reg(unsigned index, Kind kind) const {
  if (index >= operands.size()) {
    decoder.fail("malformed assembly: operand " + llvm::Twine(index + 1) + " is missing in '" + text + "'");
    return decoder.newReg(kind);
  }
  return decoder.asmRegister(operands[index], kind, text);
}

Reg AsmStatement::address(unsigned index) const {
  const AsmOperand *operand = index < operands.size() ? &operands[index] : nullptr;
  if (!operand || operand->form != AsmOperand::Form::Memory) {
    decoder.fail("malformed assembly: operand " + llvm::Twine(index + 1) + " of '" + text + "' must be [an address]");
    return decoder.newReg(Kind::Pointer);
  }
  if (!operand->hasReg)
    return decoder.constant(Kind::Pointer, static_cast<uint64_t>(operand->number));
  Reg base = decoder.widen(operand->reg);
  if (!operand->number)
    return base;
  Reg sum = decoder.newReg(Kind::Pointer);
  decoder.emit(displacementHandler(decoder.width()), sum, {base}, operand->number);
  return sum;
}

int64_t AsmStatement::number(unsigned index) const {
  if (index < operands.size() && operands[index].form == AsmOperand::Form::Number)
    return operands[index].number;
  decoder.fail("malformed assembly: operand " + llvm::Twine(index + 1) + " of '" + text + "' must be a number");
  return 0;
}

Reg Decoder::asmRegister(const AsmOperand &operand, Kind kind, llvm::StringRef text) {
  switch (operand.form) {
  case AsmOperand::Form::Ignored:
    return newReg(kind);
  case AsmOperand::Form::Number: {
    auto bits = static_cast<uint64_t>(operand.number);
    if (kind == Kind::F32 && operand.kind == Kind::F64)
      bits = llvm::bit_cast<uint32_t>(static_cast<float>(llvm::bit_cast<double>(bits)));
    else if (kind == Kind::F64 && operand.kind == Kind::F32)
      bits = llvm::bit_cast<uint64_t>(static_cast<double>(llvm::bit_cast<float>(static_cast<uint32_t>(bits))));
    return constant(kind, bits);
  }
  case AsmOperand::Form::Register:
    if (sizeOf(kindOfReg(operand.reg)) != sizeOf(kind)) {
      fail("malformed assembly: an operand of '" + text + "' has " + llvm::Twine(8 * sizeOf(kindOfReg(operand.reg))) +
           " bits where " + llvm::Twine(8 * sizeOf(kind)) + " are needed");
      return newReg(kind);
    }
    if (operand.negated) {
      Reg inverse = newReg(Kind::I1);
      emit(integerHandler(IntegerOp::Xor, Kind::I1, width()), inverse, {operand.reg, constant(Kind::I1, 1)});
      return inverse;
    }
    return operand.reg;
  default:
    fail("malformed assembly: an operand of '" + text + "' must be a register or a number");
    return newReg(kind);
  }
}

} // namespace tilejit::sim
