// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Constants and module variables: numbers in registers from the start, addresses of variables and their initial bytes,
// places of static shared memory.

#include "decode/Decoder.h"

#include "core/GlobalMemory.h"
#include "core/Pointers.h"
#include "nvidia/SpecialRegisters.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Operator.h"

#include <algorithm>
#include <cstring>

namespace tilejit::sim {

namespace {

/// Functions whose code this kernel runs: only itself, because calls were inlined.
bool isUsedIn(const llvm::Value &value, const llvm::Function &kernel) {
  for (const llvm::User *user : value.users()) {
    if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(user)) {
      if (instruction->getFunction() == &kernel)
        return true;
    } else if (isUsedIn(*user, kernel)) {
      return true;
    }
  }
  return false;
}

/// Whether assembly of the kernel asks where the system's part of shared memory is.
bool asksForReserved(const llvm::Function &kernel) {
  for (const llvm::BasicBlock &block : kernel)
    for (const llvm::Instruction &instruction : block)
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
          if (assembly->getAsmString().contains("%reserved_smem_offset"))
            return true;
  return false;
}

uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

} // namespace

/// Static variables first; a variable without a size (extern __shared__) is where the dynamic part begins.
void Decoder::placeShared() {
  uint64_t next = asksForReserved(kernel_) ? reservedSharedBytes : 0, dynamicAlignment = 16;
  std::vector<const llvm::GlobalVariable *> dynamic;
  for (const llvm::GlobalVariable &variable : kernel_.getParent()->globals()) {
    if (variable.getAddressSpace() != sharedSpace || !isUsedIn(variable, kernel_))
      continue;
    uint64_t size = layout_.getTypeAllocSize(variable.getValueType());
    uint64_t alignment = std::max<uint64_t>(layout_.getPreferredAlign(&variable).value(), 1);
    if (size == 0) {
      dynamic.push_back(&variable);
      dynamicAlignment = std::max(dynamicAlignment, alignment);
      continue;
    }
    next = roundUp(next, alignment);
    shared_[&variable] = static_cast<uint32_t>(next);
    next += size;
  }
  program_.staticShared = static_cast<uint32_t>(next);
  program_.dynamicShared = static_cast<uint32_t>(dynamic.empty() ? next : roundUp(next, dynamicAlignment));
  for (const llvm::GlobalVariable *variable : dynamic)
    shared_[variable] = program_.dynamicShared;
}

uint32_t Decoder::sharedOffset(const llvm::GlobalVariable &variable) {
  auto found = shared_.find(&variable);
  if (found != shared_.end())
    return found->second;
  fail("shared variable '" + variable.getName() + "' has no place");
  return 0;
}

uint32_t Decoder::globalIndex(const llvm::GlobalVariable &variable) {
  auto found = globals_.find(&variable);
  if (found != globals_.end())
    return found->second;
  auto index = static_cast<uint32_t>(program_.globals.size());
  globals_[&variable] = index;
  GlobalVariable made;
  made.name = variable.getName().str();
  made.bytes.resize(layout_.getTypeAllocSize(variable.getValueType()));
  made.alignment = static_cast<uint32_t>(layout_.getPreferredAlign(&variable).value());
  made.constant = variable.isConstant();
  made.undefined = !variable.hasInitializer() || llvm::isa<llvm::UndefValue>(variable.getInitializer());
  program_.globals.push_back(std::move(made));
  if (variable.hasInitializer())
    initialBytes(variable.getInitializer(), 0, index);
  return index;
}

/// Writes a constant's bytes into a variable; pointers in it become relocations.
void Decoder::initialBytes(const llvm::Constant *constant, uint64_t offset, uint32_t global) {
  auto put = [&](uint64_t value, uint64_t bytes) {
    std::vector<uint8_t> &into = program_.globals[global].bytes;
    if (offset + bytes <= into.size())
      std::memcpy(into.data() + offset, &value, std::min<uint64_t>(bytes, 8));
  };
  llvm::Type *type = constant->getType();
  if (constant->isNullValue() || llvm::isa<llvm::UndefValue>(constant))
    return;
  if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(constant)) {
    uint64_t bytes = layout_.getTypeStoreSize(type);
    for (uint64_t i = 0; i < number->getValue().getNumWords(); ++i, offset += 8, bytes -= std::min<uint64_t>(bytes, 8))
      put(number->getValue().getRawData()[i], bytes);
    return;
  }
  if (auto *number = llvm::dyn_cast<llvm::ConstantFP>(constant))
    return put(number->getValueAPF().bitcastToAPInt().getZExtValue(), layout_.getTypeStoreSize(type));
  if (type->isAggregateType() || type->isVectorTy()) {
    uint64_t base = offset;
    for (unsigned i = 0; llvm::Constant *element = constant->getAggregateElement(i); ++i) {
      uint64_t place = 0;
      if (auto *structure = llvm::dyn_cast<llvm::StructType>(type))
        place = layout_.getStructLayout(structure)->getElementOffset(i);
      else
        place = i * (type->isVectorTy() ? layout_.getTypeStoreSize(element->getType()).getFixedValue()
                                        : layout_.getTypeAllocSize(element->getType()).getFixedValue());
      initialBytes(element, base + place, global);
    }
    return;
  }
  Constant value{};
  if (!constantPointer(const_cast<llvm::Constant *>(constant), value))
    return fail("unsupported initial value of '" + llvm::Twine(program_.globals[global].name) + "'");
  if (value.base != Constant::Base::Global)
    return put(value.bits, layout_.getTypeStoreSize(type));
  GlobalVariable::Pointer pointer{static_cast<uint32_t>(offset), value.global, value.bits};
  program_.globals[global].pointers.push_back(pointer);
}

/// Evaluates an address or integer made of one: a base and a number. False for what it can't.
bool Decoder::constantPointer(llvm::Constant *constant, Constant &value) {
  if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(constant)) {
    if (variable->getAddressSpace() == sharedSpace) {
      value.base = Constant::Base::Shared; // Offsets are known now; where the block's part begins, at its start.
      value.bits = sharedOffset(*variable);
      return true;
    }
    value.base = Constant::Base::Global;
    value.global = globalIndex(*variable);
    value.bits = 0;
    return true;
  }
  if (auto *alias = llvm::dyn_cast<llvm::GlobalAlias>(constant))
    return constantPointer(alias->getAliasee(), value);
  if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(constant)) {
    value.bits = number->getValue().getActiveBits() <= 64 ? number->getZExtValue() : 0;
    return number->getValue().getActiveBits() <= 64;
  }
  if (constant->isNullValue())
    return true;
  auto *expression = llvm::dyn_cast<llvm::ConstantExpr>(constant);
  if (!expression)
    return false;
  auto operand = [&](unsigned i) { return expression->getOperand(i); };
  switch (expression->getOpcode()) {
  case llvm::Instruction::GetElementPtr: {
    llvm::APInt offset(layout_.getIndexTypeSizeInBits(expression->getType()), 0);
    if (!llvm::cast<llvm::GEPOperator>(expression)->accumulateConstantOffset(layout_, offset) ||
        !constantPointer(operand(0), value))
      return false;
    value.bits += static_cast<uint64_t>(offset.getSExtValue());
    return true;
  }
  case llvm::Instruction::AddrSpaceCast: {
    if (!constantPointer(operand(0), value))
      return false;
    unsigned from = operand(0)->getType()->getPointerAddressSpace(),
             to = expression->getType()->getPointerAddressSpace();
    bool isNull = value.base == Constant::Base::None && operand(0)->isNullValue();
    if (from == sharedSpace && to == genericSpace && !isNull)
      value.bits += sharedWindow;
    else if (from == genericSpace && to == sharedSpace)
      value.bits -= sharedWindow;
    return true;
  }
  case llvm::Instruction::PtrToInt:
  case llvm::Instruction::IntToPtr:
  case llvm::Instruction::BitCast:
    return constantPointer(operand(0), value);
  case llvm::Instruction::Add:
  case llvm::Instruction::Sub: {
    Constant other{};
    bool isSum = expression->getOpcode() == llvm::Instruction::Add;
    if (!constantPointer(operand(0), value) || !constantPointer(operand(1), other))
      return false;
    value.bits += isSum ? other.bits : 0 - other.bits;
    if (!isSum && value.base == Constant::Base::Shared && other.base == Constant::Base::Shared)
      other.base = value.base = Constant::Base::None; // A distance.
    return other.base == Constant::Base::None;
  }
  default:
    return false;
  }
}

Reg Decoder::addressOf(const llvm::GlobalVariable &variable, int64_t offset) {
  if (variable.getAddressSpace() == sharedSpace)
    return constant(Kind::Pointer, sharedOffset(variable) + static_cast<uint64_t>(offset), Constant::Base::Shared);
  Reg reg = newReg(Kind::Pointer);
  program_.constants.push_back(
      {Constant::Base::Global, reg, Kind::Pointer, static_cast<uint64_t>(offset), globalIndex(variable)});
  return reg;
}

/// Registers of a constant, flattened.
Regs Decoder::constantRegs(llvm::Constant *constant) {
  Regs result;
  // Some passes leave casts of vectors as expressions that know nothing of the target's layout.
  if (llvm::isa<llvm::ConstantExpr>(constant))
    constant = llvm::ConstantFoldConstant(constant, layout_);
  llvm::Type *type = constant->getType();
  if (llvm::isa<llvm::UndefValue>(constant)) { // And poison.
    for (const Leaf &leaf : leaves(type)) {
      Reg reg = newReg(leaf.kind);
      program_.constants.push_back({Constant::Base::None, reg, leaf.kind, 0xbdbdbdbdbdbdbdbdull, 0});
      if (leaf.kind == Kind::I1)
        program_.constants.back().bits = 1;
      undefined_.push_back(reg);
      result.push_back(reg);
    }
    return result;
  }
  if (type->isAggregateType() || type->isVectorTy()) {
    unsigned count = type->isStructTy()  ? type->getStructNumElements()
                     : type->isArrayTy() ? static_cast<unsigned>(type->getArrayNumElements())
                                         : llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
    for (unsigned i = 0; i < count; ++i) {
      llvm::Constant *element = constant->getAggregateElement(i);
      if (!element) {
        fail("unsupported constant");
        return result;
      }
      Regs part = constantRegs(element);
      result.append(part.begin(), part.end());
    }
    return result;
  }
  if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(constant)) {
    Leaves parts = leaves(type);
    for (size_t i = 0; i < parts.size(); ++i)
      result.push_back(this->constant(parts[i].kind, number->getValue().getRawData()[i]));
    return result;
  }
  if (auto *number = llvm::dyn_cast<llvm::ConstantFP>(constant)) {
    result.push_back(this->constant(kindOf(type), number->getValueAPF().bitcastToAPInt().getZExtValue()));
    return result;
  }
  if (constant->isNullValue()) {
    for (const Leaf &leaf : leaves(type))
      result.push_back(this->constant(leaf.kind, 0));
    return result;
  }
  Constant value{};
  if (!constantPointer(constant, value)) {
    fail("unsupported constant expression");
    return result;
  }
  if (value.base != Constant::Base::Global) {
    result.push_back(this->constant(kindOf(type), value.bits, value.base));
    return result;
  }
  value.reg = newReg(kindOf(type));
  value.kind = kindOf(type);
  program_.constants.push_back(value);
  result.push_back(value.reg);
  return result;
}

} // namespace tilejit::sim
