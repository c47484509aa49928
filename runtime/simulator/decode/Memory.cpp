// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loads, stores, address arithmetic, local variables, and casts between address spaces.

#include "decode/Atomics.h"
#include "decode/Decoder.h"

#include "core/GlobalMemory.h"
#include "core/Handlers.h"
#include "core/Pointers.h"

#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Operator.h"

#include <numeric>

namespace tilejit::sim {

namespace {

bool mayBeShared(unsigned addressSpace) {
  return addressSpace == sharedSpace || addressSpace == genericSpace || addressSpace == clusterSharedSpace;
}

/// Whether pointers of a space are 32 bits wide: arithmetic on them wraps there.
bool isNarrow(const Decoder &d, unsigned addressSpace) { return d.layout().getPointerSizeInBits(addressSpace) <= 32; }

/// A load or store of `bytes` at an address: `leaves` with their registers, offsets counted from there.
void access(Decoder &d, Reg address, unsigned space, uint64_t bytes, const Leaves &leaves, const Regs &regs,
            uint64_t alignment, bool isStore) {
  Op &op = d.emitWide(isStore ? storeHandler(d.width()) : loadHandler(d.width()),
                      isStore ? llvm::ArrayRef<Reg>() : llvm::ArrayRef<Reg>(regs),
                      isStore ? llvm::ArrayRef<Reg>(regs) : llvm::ArrayRef<Reg>(), space);
  op.a = address;
  op.registers |= Op::HasA;
  OpOperands &x = d.operandsOf(op);
  x.numbers = {static_cast<int64_t>(bytes), static_cast<int64_t>(alignment)};
  for (const Leaf &leaf : leaves) {
    x.offsets.push_back(leaf.offset);
    x.numbers.push_back((leaf.bits + 7) / 8);
  }
  if (mayBeShared(space))
    d.noteSharedAccess(bytes, alignment);
}

/// Whether accesses to values of a type in a space are supported; if not, decoding fails.
bool canAccess(Decoder &d, unsigned space, llvm::Type *type, bool isStore) {
  if (space > sharedSpace + 4 && space != parameterSpace)
    d.fail(llvm::Twine(isStore ? "unsupported store to" : "unsupported load from") + " address space " +
           llvm::Twine(space));
  else
    return true;
  return false;
}

/// Whether a type is a vector whose elements share bytes in memory.
bool isPacked(Decoder &d, llvm::Type *type) {
  return type->isVectorTy() && d.layout().getTypeSizeInBits(type->getScalarType()) % 8 != 0;
}

/// Elements that share bytes: the first in the lowest bits. Bits of the last byte that belong to none are zero.
void accessPacked(Decoder &d, Reg address, unsigned space, uint64_t bytes, unsigned elementBits, const Regs &regs,
                  uint64_t alignment, bool isStore) {
  if (bytes > mostBitcastBytes)
    return d.fail(llvm::Twine("unsupported access to more than ") + llvm::Twine(mostBitcastBytes) +
                  " bytes of a vector whose elements share bytes");
  Leaves leaves;
  Regs inMemory;
  for (uint32_t i = 0; i < bytes; ++i) {
    leaves.push_back({Kind::I8, 8, i, 0});
    inMemory.push_back(d.newReg(Kind::I8));
  }
  if (!isStore)
    access(d, address, space, bytes, leaves, inMemory, alignment, isStore);
  const Regs &from = isStore ? regs : inMemory, &to = isStore ? inMemory : regs;
  OpOperands &x = d.operandsOf(d.emitWide(bitcastHandler(d.width()), to, from, 1));
  x.numbers.assign(from.size(), isStore ? elementBits : 8);
  x.numbers.insert(x.numbers.end(), to.size(), isStore ? 8 : elementBits);
  if (isStore)
    access(d, address, space, bytes, leaves, inMemory, alignment, isStore);
}

/// A load or store of all scalars of a value at one pointer.
void accessAll(Decoder &d, llvm::Value *pointer, llvm::Type *type, const Regs &regs, uint64_t alignment, bool isStore) {
  unsigned space = pointer->getType()->getPointerAddressSpace();
  uint64_t bytes = d.layout().getTypeStoreSize(type);
  if (!canAccess(d, space, type, isStore) || bytes == 0)
    return;
  if (isPacked(d, type))
    return accessPacked(d, d.reg(pointer), space, bytes, type->getScalarSizeInBits(), regs, alignment, isStore);
  access(d, d.reg(pointer), space, bytes, d.leaves(type), regs, alignment, isStore);
}

void address(Decoder &d, llvm::GetElementPtrInst &gep) {
  if (gep.getType()->isVectorTy())
    return d.fail("unsupported vector of pointers");
  unsigned space = gep.getPointerAddressSpace();
  const Regs base = d.regs(gep.getPointerOperand());
  Reg at = base[0];
  if (base.size() > 1)
    return d.fail("unsupported address arithmetic on a buffer pointer");
  uint32_t narrow = isNarrow(d, space) ? 1 : 0;
  int64_t displacement = 0;
  auto type = llvm::gep_type_begin(gep);
  for (unsigned i = 1; i < gep.getNumOperands(); ++i, ++type) {
    llvm::Value *index = gep.getOperand(i);
    if (llvm::StructType *structure = type.getStructTypeOrNull()) {
      auto field = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(index)->getZExtValue());
      displacement +=
          static_cast<int64_t>(d.layout().getStructLayout(structure)->getElementOffset(field).getFixedValue());
      continue;
    }
    auto step = static_cast<int64_t>(type.getSequentialElementStride(d.layout()).getFixedValue());
    if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(index)) {
      displacement += number->getSExtValue() * step;
      continue;
    }
    Reg variable = d.reg(index);
    unsigned bits = index->getType()->getIntegerBitWidth();
    if (bits != 8 * sizeOf(d.kindOfReg(variable))) {
      Reg extended = d.newReg(d.kindOfReg(variable));
      d.emit(signExtendHandler(d.kindOfReg(variable), d.width()), extended, {variable}, bits);
      variable = extended;
    }
    Reg next = d.newReg(Kind::Pointer);
    Op &op = d.emit(addressHandler(d.kindOfReg(variable), d.width()), next, {at, variable}, step);
    op.c = narrow;
    at = next;
  }
  if (displacement) {
    Reg next = d.newReg(Kind::Pointer);
    d.emit(displacementHandler(d.width()), next, {at}, displacement).c = narrow;
    at = next;
  }
  d.define(&gep, {at});
}

void castSpace(Decoder &d, llvm::AddrSpaceCastInst &cast) {
  const Regs from = d.regs(cast.getOperand(0));
  unsigned source = cast.getSrcAddressSpace(), target = cast.getDestAddressSpace();
  auto windowOfSpace = [](unsigned space) {
    return space == sharedSpace || space == clusterSharedSpace ? sharedWindow : space == localSpace ? localWindow : 0;
  };
  uint64_t up = windowOfSpace(source), down = windowOfSpace(target);
  if (from.size() != 1 || d.leaves(cast.getType()).size() != 1)
    return d.fail("unsupported cast of a buffer pointer");
  if (up == down) // Between global, constant, generic: the same number.
    return d.define(&cast, from);
  Reg result = d.newReg(Kind::Pointer);
  auto window = static_cast<int64_t>(up ? up : down);
  d.emit(addressSpaceHandler(d.width()), result, {from[0]}, up ? window : -window);
  d.define(&cast, {result});
}

void local(Decoder &d, llvm::AllocaInst &variable) {
  auto *count = llvm::dyn_cast<llvm::ConstantInt>(variable.getArraySize());
  if (!count)
    return d.fail("unsupported local array of variable size");
  uint64_t bytes = d.layout().getTypeAllocSize(variable.getAllocatedType()) * count->getZExtValue();
  uint64_t offset = d.allocateLocal(bytes, variable.getAlign().value());
  // Where local variables are generic pointers (NVPTX) the window is part of the address.
  if (variable.getAddressSpace() == genericSpace)
    offset += localWindow;
  d.define(&variable, {d.constant(Kind::Pointer, offset)});
}

} // namespace

uint32_t Decoder::allocateLocal(uint64_t bytes, uint64_t alignment) {
  uint64_t offset = (program_.localBytes + alignment - 1) / alignment * alignment;
  constexpr uint64_t most = 512 << 10; // What NVIDIA allows a thread.
  if (offset + bytes > most) {
    fail("local variables take more than " + llvm::Twine(most) + " bytes a thread");
    return 0;
  }
  program_.localBytes = static_cast<uint32_t>(offset + std::max<uint64_t>(bytes, 1));
  return static_cast<uint32_t>(offset);
}

void decodeMaskedAccess(Decoder &d, llvm::CallBase &call) {
  // store(value, pointer, mask), load(pointer, mask, value elsewhere); before LLVM 22 the alignment follows the
  // pointer.
  bool isStore = call.getType()->isVoidTy(), hasAlignment = call.arg_size() == 4;
  unsigned pointerAt = isStore ? 1 : 0, maskAt = pointerAt + (hasAlignment ? 2 : 1);
  llvm::Type *type = isStore ? call.getArgOperand(0)->getType() : call.getType();
  auto *mask = llvm::dyn_cast<llvm::Constant>(call.getArgOperand(maskAt));
  if (!mask)
    return d.fail("unsupported mask of a memory access that is no constant");
  uint64_t alignment = hasAlignment ? llvm::cast<llvm::ConstantInt>(call.getArgOperand(1 + pointerAt))->getZExtValue()
                                    : call.getParamAlign(pointerAt).valueOrOne().value();
  llvm::Value *pointer = call.getArgOperand(pointerAt);
  unsigned space = pointer->getType()->getPointerAddressSpace();
  if (!canAccess(d, space, type, isStore))
    return;
  if (isPacked(d, type))
    return d.fail("unsupported masked access to a vector whose elements share bytes");
  const Leaves all = d.leaves(type);
  Regs values = d.regs(call.getArgOperand(isStore ? 0 : maskAt + 1));
  for (unsigned i = 0; i < all.size(); ++i) {
    llvm::Constant *element = mask->getAggregateElement(i);
    if (!element || !element->isOneValue())
      continue;
    if (!isStore)
      values[i] = d.newReg(all[i].kind);
    Reg at = d.newReg(Kind::Pointer);
    d.emit(displacementHandler(d.width()), at, {d.reg(pointer)}, all[i].offset).c = isNarrow(d, space) ? 1 : 0;
    Leaf leaf = all[i];
    leaf.offset = 0;
    access(d, at, space, (leaf.bits + 7) / 8, {leaf}, {values[i]}, std::gcd(alignment, uint64_t{all[i].offset}),
           isStore);
  }
  if (!isStore)
    d.define(&call, values);
}

void decodeMemory(Decoder &d, llvm::Instruction &instruction) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (load->isAtomic() || load->isVolatile())
      return decodeAtomicLoad(d, *load);
    const Regs results = d.freshResults(load);
    return accessAll(d, load->getPointerOperand(), load->getType(), results, load->getAlign().value(), false);
  }
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    if (store->isAtomic() || store->isVolatile())
      return decodeAtomicStore(d, *store);
    const Regs values = d.regs(store->getValueOperand());
    return accessAll(d, store->getPointerOperand(), store->getValueOperand()->getType(), values,
                     store->getAlign().value(), true);
  }
  if (auto *gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
    return address(d, *gep);
  if (auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction))
    return castSpace(d, *cast);
  local(d, llvm::cast<llvm::AllocaInst>(instruction));
}

} // namespace tilejit::sim
