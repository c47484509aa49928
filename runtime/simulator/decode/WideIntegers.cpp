// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Integers wider than 64 bits lie in words of 64, the last one zero-extended. What goes word by word is made of
// operations on words, so that of a half-defined number the defined half stays so; the rest takes up to 128 bits.

#include "decode/WideIntegers.h"

#include "llvm/IR/Constants.h"

namespace tilejit::sim {

namespace {

unsigned bitsOf(const llvm::Type *type) { return type->getScalarType()->getIntegerBitWidth(); }
size_t wordsOf(const llvm::Type *type) { return (bitsOf(type) + 63) / 64; }

struct WideIntegers {
  Decoder &d;

  Reg word(IntegerOp op, Reg a, Reg b) {
    Reg result = d.newReg(Kind::I64);
    d.emit(integerHandler(op, Kind::I64, d.width()), result, {a, b});
    return result;
  }
  Reg number(uint64_t value) { return d.constant(Kind::I64, value); }
  /// What is beyond an integer's width, in its container, set to zero or to the sign.
  Reg trimmed(Reg reg, unsigned bits, bool isSigned = false) {
    Kind kind = d.kindOfReg(reg);
    if (bits == 8 * sizeOf(kind))
      return reg;
    Reg result = d.newReg(kind);
    d.emit((isSigned ? signExtendHandler : maskHandler)(kind, d.width()), result, {reg}, bits);
    return result;
  }
  Reg converted(Reg reg, Kind kind, bool isSigned) {
    if (d.kindOfReg(reg) == kind)
      return reg;
    Reg result = d.newReg(kind);
    d.emit(convertHandler(kind, d.kindOfReg(reg), isSigned, d.width()), result, {reg});
    return result;
  }

  Regs shifted(llvm::ArrayRef<Reg> a, uint64_t by, bool left, unsigned bits);
  Regs extended(llvm::ArrayRef<Reg> from, unsigned fromBits, unsigned toBits, bool isSigned);
};

/// By a number that is known.
Regs WideIntegers::shifted(llvm::ArrayRef<Reg> a, uint64_t by, bool left, unsigned bits) {
  Regs results;
  auto words = static_cast<int64_t>(by / 64), count = static_cast<int64_t>(a.size());
  uint64_t rest = by % 64;
  auto at = [&](int64_t i) { return i >= 0 && i < count ? a[static_cast<size_t>(i)] : number(0); };
  for (int64_t i = 0; i < count; ++i) {
    Reg near = at(left ? i - words : i + words), far = at(left ? i - words - 1 : i + words + 1);
    if (rest) {
      near = word(left ? IntegerOp::Shl : IntegerOp::LShr, near, number(rest));
      far = word(left ? IntegerOp::LShr : IntegerOp::Shl, far, number(64 - rest));
      near = word(IntegerOp::Or, near, far);
    }
    results.push_back(left && i + 1 == count ? trimmed(near, (bits - 1) % 64 + 1) : near);
  }
  return results;
}

Regs WideIntegers::extended(llvm::ArrayRef<Reg> from, unsigned fromBits, unsigned toBits, bool isSigned) {
  Regs results(from.begin(), from.end());
  Reg last = isSigned ? trimmed(from.back(), (fromBits - 1) % 64 + 1, true) : from.back();
  results.back() = converted(last, Kind::I64, isSigned);
  Reg above = isSigned ? word(IntegerOp::AShr, results.back(), number(63)) : number(0);
  results.resize((toBits + 63) / 64, above);
  results.back() = trimmed(results.back(), (toBits - 1) % 64 + 1);
  return results;
}

bool goesByWords(IntegerOp op) { return op == IntegerOp::And || op == IntegerOp::Or || op == IntegerOp::Xor; }

const llvm::ConstantInt *amountOf(const llvm::Instruction &instruction, IntegerOp op) {
  bool isShift = op == IntegerOp::Shl || op == IntegerOp::LShr;
  return isShift ? llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1)) : nullptr;
}

} // namespace

bool isWideInteger(const llvm::Type *type) { return type->isIntOrIntVectorTy() && bitsOf(type) > 64; }

void decodeWideBinary(Decoder &d, llvm::Instruction &instruction, IntegerOp op) {
  WideIntegers wide{d};
  const Regs a = d.regs(instruction.getOperand(0)), b = d.regs(instruction.getOperand(1));
  unsigned bits = bitsOf(instruction.getType());
  Regs results;
  if (goesByWords(op)) {
    for (size_t i = 0; i < a.size(); ++i)
      results.push_back(wide.word(op, a[i], b[i]));
    return d.define(&instruction, results);
  }
  if (const llvm::ConstantInt *amount = amountOf(instruction, op); amount && amount->getValue().ult(bits))
    return d.define(&instruction, wide.shifted(a, amount->getZExtValue(), op == IntegerOp::Shl, bits));
  if (bits > 128)
    return d.fail(llvm::Twine("unsupported operation '") + instruction.getOpcodeName() +
                  "' on integers wider than 128 bits");
  results = d.freshResults(&instruction);
  for (size_t i = 0; i < a.size(); i += 2) {
    Op &made = d.emitWide(wideIntegerHandler(), {results[i], results[i + 1]}, {a[i], a[i + 1], b[i], b[i + 1]},
                          static_cast<int64_t>(op));
    d.operandsOf(made).numbers = {bits};
  }
}

void decodeWideCompare(Decoder &d, llvm::CmpInst &compare, IntegerTest test) {
  const Regs a = d.regs(compare.getOperand(0)), b = d.regs(compare.getOperand(1));
  const Regs results = d.freshResults(&compare);
  unsigned bits = bitsOf(compare.getOperand(0)->getType());
  if (bits > 128)
    return d.fail("unsupported comparison of integers wider than 128 bits");
  for (size_t i = 0; i < results.size(); ++i) {
    Op &made = d.emitWide(wideIntegerTestHandler(), {results[i]}, {a[2 * i], a[2 * i + 1], b[2 * i], b[2 * i + 1]},
                          static_cast<int64_t>(test));
    d.operandsOf(made).numbers = {bits};
  }
}

void decodeWideCast(Decoder &d, llvm::CastInst &cast) {
  using I = llvm::Instruction;
  WideIntegers wide{d};
  unsigned opcode = cast.getOpcode();
  if (opcode != I::Trunc && opcode != I::ZExt && opcode != I::SExt)
    return d.fail("unsupported cast of integers wider than 64 bits");
  const Regs from = d.regs(cast.getOperand(0));
  unsigned fromBits = bitsOf(cast.getSrcTy()), toBits = bitsOf(cast.getDestTy());
  size_t each = wordsOf(cast.getSrcTy()), left = wordsOf(cast.getDestTy());
  Regs results;
  for (size_t i = 0; i < from.size(); i += each) {
    llvm::ArrayRef<Reg> element(from.begin() + i, each);
    if (opcode != I::Trunc) {
      results.append(wide.extended(element, fromBits, toBits, opcode == I::SExt));
      continue;
    }
    Regs part(element.begin(), element.begin() + left);
    Kind kind = d.leaves(cast.getDestTy()).back().kind;
    part.back() = wide.trimmed(wide.converted(part.back(), kind, false), (toBits - 1) % 64 + 1);
    results.append(part);
  }
  d.define(&cast, results);
}

} // namespace tilejit::sim
