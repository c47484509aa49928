// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// LLVM's arithmetic, comparisons, conversions and the shuffling of aggregates, one scalar at a time. Integers of odd
// widths are kept zero-extended: signed operations extend the sign first, others mask the result.

#include "decode/Atomics.h"
#include "decode/Decoder.h"
#include "decode/WideIntegers.h"

#include "core/Handlers.h"

#include "llvm/IR/Operator.h"

namespace tilejit::sim {

namespace {

struct Arithmetic {
  Decoder &d;
  llvm::Instruction &instruction;

  unsigned width() const { return d.width(); }
  unsigned bitsOf(llvm::Type *type) const {
    llvm::Type *scalar = type->getScalarType();
    return scalar->isIntegerTy() ? scalar->getIntegerBitWidth() : 64;
  }
  static bool isOdd(unsigned bits) { return bits != 8 && bits != 16 && bits != 32 && bits != 64; }

  Reg extended(Reg reg, unsigned bits) {
    if (!isOdd(bits))
      return reg;
    Reg wide = d.newReg(d.kindOfReg(reg));
    d.emit(signExtendHandler(d.kindOfReg(reg), width()), wide, {reg}, bits);
    return wide;
  }
  Reg masked(Reg reg, unsigned bits) {
    if (!isOdd(bits))
      return reg;
    Reg narrow = d.newReg(d.kindOfReg(reg));
    d.emit(maskHandler(d.kindOfReg(reg), width()), narrow, {reg}, bits);
    return narrow;
  }

  bool binary();
  void integerBinary(IntegerOp op, bool isSigned, bool overflows);
  void floatBinary(FloatOp op);
  void compare(llvm::CmpInst &compare);
  void convert(llvm::CastInst &cast);
  void bitcast(llvm::Value *from, llvm::Type *to);
  void select(llvm::SelectInst &select);
  void aggregate();
  void byVariable(llvm::Value *vector, llvm::Value *index, llvm::Value *element);
};

void Arithmetic::integerBinary(IntegerOp op, bool isSigned, bool overflows) {
  unsigned bits = bitsOf(instruction.getType());
  if (bits > 64)
    return decodeWideBinary(d, instruction, op);
  const Regs a = d.regs(instruction.getOperand(0)), b = d.regs(instruction.getOperand(1));
  Kind kind = d.kindOf(instruction.getType()->getScalarType());
  Regs results;
  for (size_t i = 0; i < a.size(); ++i) {
    Reg x = isSigned ? extended(a[i], bits) : a[i];
    Reg y = isSigned && op != IntegerOp::AShr ? extended(b[i], bits) : b[i];
    Reg result = d.newReg(kind);
    d.emit(integerHandler(op, kind, width()), result, {x, y});
    results.push_back(isSigned || overflows ? masked(result, bits) : result);
  }
  d.define(&instruction, results);
}

void Arithmetic::floatBinary(FloatOp op) {
  const Regs a = d.regs(instruction.getOperand(0)), b = d.regs(instruction.getOperand(1));
  Kind kind = d.kindOf(instruction.getType()->getScalarType());
  const Regs results = d.freshResults(&instruction);
  for (size_t i = 0; i < a.size(); ++i)
    d.emit(floatHandler(op, kind, width()), results[i], {a[i], b[i]});
}

bool Arithmetic::binary() {
  using I = llvm::Instruction;
  switch (instruction.getOpcode()) {
  case I::Add:
    integerBinary(IntegerOp::Add, false, true);
    return true;
  case I::Sub:
    integerBinary(IntegerOp::Sub, false, true);
    return true;
  case I::Mul:
    integerBinary(IntegerOp::Mul, false, true);
    return true;
  case I::UDiv:
    integerBinary(IntegerOp::UDiv, false, false);
    return true;
  case I::SDiv:
    integerBinary(IntegerOp::SDiv, true, true);
    return true;
  case I::URem:
    integerBinary(IntegerOp::URem, false, false);
    return true;
  case I::SRem:
    integerBinary(IntegerOp::SRem, true, true);
    return true;
  case I::Shl:
    integerBinary(IntegerOp::Shl, false, true);
    return true;
  case I::LShr:
    integerBinary(IntegerOp::LShr, false, false);
    return true;
  case I::AShr:
    integerBinary(IntegerOp::AShr, true, true);
    return true;
  case I::And:
    integerBinary(IntegerOp::And, false, false);
    return true;
  case I::Or:
    integerBinary(IntegerOp::Or, false, false);
    return true;
  case I::Xor:
    integerBinary(IntegerOp::Xor, false, false);
    return true;
  case I::FAdd:
    floatBinary(FloatOp::Add);
    return true;
  case I::FSub:
    floatBinary(FloatOp::Sub);
    return true;
  case I::FMul:
    floatBinary(FloatOp::Mul);
    return true;
  case I::FDiv:
    floatBinary(FloatOp::Div);
    return true;
  case I::FRem:
    floatBinary(FloatOp::Rem);
    return true;
  default:
    return false;
  }
}

void Arithmetic::compare(llvm::CmpInst &compare) {
  static constexpr IntegerTest tests[] = {IntegerTest::Eq,  IntegerTest::Ne,  IntegerTest::UGt, IntegerTest::UGe,
                                          IntegerTest::ULt, IntegerTest::ULe, IntegerTest::SGt, IntegerTest::SGe,
                                          IntegerTest::SLt, IntegerTest::SLe};
  llvm::Type *type = compare.getOperand(0)->getType()->getScalarType();
  IntegerTest test{};
  if (!compare.isFPPredicate())
    test = tests[compare.getPredicate() - llvm::CmpInst::FIRST_ICMP_PREDICATE];
  if (isWideInteger(type))
    return decodeWideCompare(d, compare, test);
  const Regs a = d.regs(compare.getOperand(0)), b = d.regs(compare.getOperand(1));
  const Regs results = d.freshResults(&compare);
  Kind kind = d.kindOf(type);
  if (a.size() != results.size())
    return d.fail("unsupported comparison of buffer resources");
  for (size_t i = 0; i < a.size(); ++i) {
    if (compare.isFPPredicate()) {
      d.emit(floatTestHandler(static_cast<unsigned>(compare.getPredicate()), kind, width()), results[i], {a[i], b[i]});
      continue;
    }
    bool isSigned = compare.isSigned();
    unsigned bits = bitsOf(type);
    Reg x = isSigned ? extended(a[i], bits) : a[i], y = isSigned ? extended(b[i], bits) : b[i];
    d.emit(integerTestHandler(test, kind, width()), results[i], {x, y});
  }
}

void Arithmetic::convert(llvm::CastInst &cast) {
  llvm::Type *fromType = cast.getSrcTy()->getScalarType(), *toType = cast.getDestTy()->getScalarType();
  const Regs from = d.regs(cast.getOperand(0));
  if (isWideInteger(fromType) || isWideInteger(toType))
    return decodeWideCast(d, cast);
  Kind source = d.kindOf(fromType), target = d.kindOf(toType);
  using I = llvm::Instruction;
  unsigned opcode = cast.getOpcode();
  bool isSigned = opcode == I::SExt || opcode == I::SIToFP || opcode == I::FPToSI;
  Regs results;
  for (Reg reg : from) {
    Reg x = isSigned && fromType->isIntegerTy() ? extended(reg, bitsOf(fromType)) : reg;
    Reg result = d.newReg(target);
    d.emit(convertHandler(target, source, isSigned, width()), result, {x});
    bool mayOverflow =
        opcode == I::Trunc || opcode == I::SExt || opcode == I::FPToSI || opcode == I::FPToUI || opcode == I::PtrToInt;
    results.push_back(mayOverflow && toType->isIntegerTy() ? masked(result, bitsOf(toType)) : result);
  }
  d.define(&cast, results);
}

void Arithmetic::bitcast(llvm::Value *from, llvm::Type *to) {
  const Regs in = d.regs(from);
  Leaves inLeaves = d.leaves(from->getType()), outLeaves = d.leaves(to);
  bool same = in.size() == outLeaves.size();
  for (size_t i = 0; same && i < in.size(); ++i)
    same = sizeOf(inLeaves[i].kind) == sizeOf(outLeaves[i].kind) && inLeaves[i].bits == outLeaves[i].bits;
  if (same) { // Only the kind changes: no code.
    Regs results;
    for (size_t i = 0; i < in.size(); ++i) {
      if (d.kindOfReg(in[i]) == outLeaves[i].kind) {
        results.push_back(in[i]);
        continue;
      }
      Reg result = d.newReg(outLeaves[i].kind);
      d.copy(result, in[i]);
      results.push_back(result);
    }
    return d.define(&instruction, results);
  }
  const Regs out = d.freshResults(&instruction);
  if (d.layout().getTypeSizeInBits(to).getFixedValue() > 8 * mostBitcastBytes)
    return d.fail(llvm::Twine("unsupported bitcast of more than ") + llvm::Twine(mostBitcastBytes) + " bytes");
  Op &op = d.emitWide(bitcastHandler(width()), out, in);
  OpOperands &x = d.operandsOf(op);
  bool whole = true;
  for (const Leaves *leaves : {&inLeaves, &outLeaves})
    for (const Leaf &leaf : *leaves) {
      x.numbers.push_back(leaf.bits);
      whole &= leaf.bits == 8 * sizeOf(leaf.kind);
    }
  op.imm = whole ? 0 : 1;
}

void Arithmetic::select(llvm::SelectInst &select) {
  const Regs c = d.regs(select.getCondition()), a = d.regs(select.getTrueValue()), b = d.regs(select.getFalseValue());
  const Regs results = d.freshResults(&select);
  for (size_t i = 0; i < results.size(); ++i) {
    Reg condition = c.size() == 1 ? c[0] : c[i * c.size() / results.size()];
    d.emit(selectHandler(d.kindOfReg(results[i]), width()), results[i], {condition, a[i], b[i]});
  }
}

/// First scalar of an element, and how many there are.
std::pair<size_t, size_t> elementRange(Decoder &d, llvm::Type *type, llvm::ArrayRef<unsigned> path) {
  size_t first = 0;
  for (unsigned index : path) {
    auto elementType = [&](unsigned i) -> llvm::Type * {
      if (auto *structure = llvm::dyn_cast<llvm::StructType>(type))
        return structure->getElementType(i);
      return llvm::cast<llvm::ArrayType>(type)->getElementType();
    };
    for (unsigned i = 0; i < index; ++i)
      first += d.leaves(elementType(i)).size();
    type = elementType(index);
  }
  return {first, d.leaves(type).size()};
}

/// Elements by a variable index.
void Arithmetic::byVariable(llvm::Value *vector, llvm::Value *index, llvm::Value *element) {
  const Regs in = d.regs(vector);
  Reg wide = d.widen(d.reg(index));
  const Regs out = d.freshResults(&instruction);
  Op &op = d.emitWide(element ? putElementHandler(width()) : pickElementHandler(width()),
                      element ? llvm::ArrayRef<Reg>(out) : llvm::ArrayRef<Reg>(), in);
  op.a = wide;
  op.registers |= Op::HasA;
  if (element) {
    op.b = d.reg(element);
    op.registers |= Op::HasB;
  } else {
    op.d = out[0];
    op.registers |= Op::HasD;
  }
}

void Arithmetic::aggregate() {
  if (auto *extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    auto [first, count] = elementRange(d, extract->getAggregateOperand()->getType(), extract->getIndices());
    const Regs all = d.regs(extract->getAggregateOperand());
    d.define(&instruction, Regs(all.begin() + first, all.begin() + first + count));
  } else if (auto *insert = llvm::dyn_cast<llvm::InsertValueInst>(&instruction)) {
    auto [first, count] = elementRange(d, insert->getType(), insert->getIndices());
    Regs all = d.regs(insert->getAggregateOperand());
    const Regs part = d.regs(insert->getInsertedValueOperand());
    std::copy(part.begin(), part.end(), all.begin() + first);
    d.define(&instruction, all);
  } else if (auto *extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) {
    const Regs all = d.regs(extract->getVectorOperand());
    auto *index = llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand());
    size_t each = d.leaves(extract->getType()).size();
    if (!index)
      return byVariable(extract->getVectorOperand(), extract->getIndexOperand(), nullptr);
    size_t first = index->getZExtValue() * each;
    if (first + each > all.size())
      return d.fail("extractelement out of range");
    d.define(&instruction, Regs(all.begin() + first, all.begin() + first + each));
  } else if (auto *insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
    auto *index = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    if (!index)
      return byVariable(insert->getOperand(0), insert->getOperand(2), insert->getOperand(1));
    Regs all = d.regs(insert->getOperand(0));
    const Regs part = d.regs(insert->getOperand(1));
    size_t first = index->getZExtValue() * part.size();
    if (first + part.size() > all.size())
      return d.fail("insertelement out of range");
    std::copy(part.begin(), part.end(), all.begin() + first);
    d.define(&instruction, all);
  } else if (auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) {
    Regs both = d.regs(shuffle->getOperand(0));
    const Regs second = d.regs(shuffle->getOperand(1));
    both.append(second.begin(), second.end());
    Regs results;
    const Regs undefined = d.regs(llvm::UndefValue::get(shuffle->getType()->getScalarType()));
    for (int index : shuffle->getShuffleMask())
      results.push_back(index < 0 ? undefined[0] : both[static_cast<size_t>(index)]);
    d.define(&instruction, results);
  } else {
    d.fail(llvm::Twine("unsupported instruction '") + instruction.getOpcodeName() + "'");
  }
}

} // namespace

void decodeArithmetic(Decoder &decoder, llvm::Instruction &instruction) {
  Arithmetic arithmetic{decoder, instruction};
  using I = llvm::Instruction;
  if (arithmetic.binary())
    return;
  switch (instruction.getOpcode()) {
  case I::FNeg: {
    const Regs a = decoder.regs(instruction.getOperand(0)), results = decoder.freshResults(&instruction);
    for (size_t i = 0; i < a.size(); ++i)
      decoder.emit(negateHandler(decoder.kindOfReg(a[i]), decoder.width()), results[i], {a[i]});
    return;
  }
  case I::ICmp:
  case I::FCmp:
    return arithmetic.compare(llvm::cast<llvm::CmpInst>(instruction));
  case I::BitCast:
    return arithmetic.bitcast(instruction.getOperand(0), instruction.getType());
  case I::Trunc:
  case I::ZExt:
  case I::SExt:
  case I::FPTrunc:
  case I::FPExt:
  case I::FPToSI:
  case I::FPToUI:
  case I::SIToFP:
  case I::UIToFP:
  case I::PtrToInt:
  case I::PtrToAddr:
  case I::IntToPtr:
    return arithmetic.convert(llvm::cast<llvm::CastInst>(instruction));
  case I::Select:
    return arithmetic.select(llvm::cast<llvm::SelectInst>(instruction));
  case I::Freeze: {
    // A copy of its own (`imm` says so): whatever it holds is defined from here on.
    const Regs from = decoder.regs(instruction.getOperand(0)), to = decoder.freshResults(&instruction);
    for (size_t i = 0; i < to.size(); ++i)
      decoder.emit(copyHandler(decoder.kindOfReg(to[i]), decoder.width()), to[i], {from[i]}, 1);
    return;
  }
  case I::Load:
  case I::Store:
  case I::GetElementPtr:
  case I::Alloca:
  case I::AddrSpaceCast:
    return decodeMemory(decoder, instruction);
  case I::AtomicRMW:
    return decodeAtomicRmw(decoder, llvm::cast<llvm::AtomicRMWInst>(instruction));
  case I::AtomicCmpXchg:
    return decodeCmpXchg(decoder, llvm::cast<llvm::AtomicCmpXchgInst>(instruction));
  case I::Fence:
    return decodeFence(decoder, llvm::cast<llvm::FenceInst>(instruction));
  default:
    return arithmetic.aggregate();
  }
}

} // namespace tilejit::sim
