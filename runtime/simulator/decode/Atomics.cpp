// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From LLVM's atomic instructions, fences, atomic and volatile loads and stores to operations.
//
// CUDA's atomicAdd and its kin are relaxed, but clang spells them "atomicrmw ... seq_cst" without a scope, which LLVM
// 22 turns into a plain atom instruction. That form is taken for what it was; other orders and scopes mean what they
// say.

#include "decode/Atomics.h"

#include "core/AtomicHandlers.h"
#include "core/Handlers.h"
#include "core/Pointers.h"
#include "decode/Decoder.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"

#include <iterator>

namespace tilejit::sim {

namespace {

struct ScopeName {
  llvm::StringLiteral name;
  AtomicScope scope;
};
constexpr ScopeName scopeNames[] = {
    {"", AtomicScope::System},         {"system", AtomicScope::System},   {"singlethread", AtomicScope::Warp},
    {"wavefront", AtomicScope::Warp},  {"workgroup", AtomicScope::Block}, {"block", AtomicScope::Block},
    {"cluster", AtomicScope::Cluster}, {"agent", AtomicScope::Device},    {"device", AtomicScope::Device},
};

struct OperationName {
  llvm::AtomicRMWInst::BinOp name;
  AtomicOp op;
};
constexpr OperationName operationNames[] = {
    {llvm::AtomicRMWInst::Xchg, AtomicOp::Exchange},
    {llvm::AtomicRMWInst::Add, AtomicOp::Add},
    {llvm::AtomicRMWInst::Sub, AtomicOp::Sub},
    {llvm::AtomicRMWInst::And, AtomicOp::And},
    {llvm::AtomicRMWInst::Nand, AtomicOp::Nand},
    {llvm::AtomicRMWInst::Or, AtomicOp::Or},
    {llvm::AtomicRMWInst::Xor, AtomicOp::Xor},
    {llvm::AtomicRMWInst::Max, AtomicOp::Max},
    {llvm::AtomicRMWInst::Min, AtomicOp::Min},
    {llvm::AtomicRMWInst::UMax, AtomicOp::UMax},
    {llvm::AtomicRMWInst::UMin, AtomicOp::UMin},
    {llvm::AtomicRMWInst::FAdd, AtomicOp::FAdd},
    {llvm::AtomicRMWInst::FSub, AtomicOp::FSub},
    {llvm::AtomicRMWInst::FMax, AtomicOp::FMax},
    {llvm::AtomicRMWInst::FMin, AtomicOp::FMin},
    {llvm::AtomicRMWInst::FMaximum, AtomicOp::FMaximum},
    {llvm::AtomicRMWInst::FMinimum, AtomicOp::FMinimum},
    {llvm::AtomicRMWInst::UIncWrap, AtomicOp::IncrementWrap},
    {llvm::AtomicRMWInst::UDecWrap, AtomicOp::DecrementWrap},
    {llvm::AtomicRMWInst::USubCond, AtomicOp::SubConditional},
    {llvm::AtomicRMWInst::USubSat, AtomicOp::SubSaturating},
};

AtomicScope scopeOf(Decoder &decoder, const llvm::LLVMContext &context, llvm::SyncScope::ID id) {
  llvm::SmallVector<llvm::StringRef, 16> names;
  context.getSyncScopeNames(names);
  llvm::StringRef name = id < names.size() ? names[id] : llvm::StringRef();
  llvm::StringRef base = name;
  // AMD's "-one-as" forms order one address space; "one-as" alone is that of the system.
  if (!base.consume_back("-one-as"))
    base.consume_back("one-as");
  for (const ScopeName &known : scopeNames)
    if (known.name == base)
      return known.scope;
  decoder.fail("unsupported synchronisation scope '" + name + "'");
  return AtomicScope::System;
}

AtomicCode codeOf(llvm::AtomicOrdering ordering, AtomicScope scope) {
  AtomicCode code;
  code.acquire = llvm::isAcquireOrStronger(ordering);
  code.release = llvm::isReleaseOrStronger(ordering);
  code.scope = scope;
  return code;
}

uint32_t bytesOf(const Decoder &decoder, const Leaf &leaf) {
  if (leaf.kind == Kind::Pointer)
    return decoder.layout().getPointerSize(leaf.addressSpace);
  return leaf.kind <= Kind::I64 ? (leaf.bits + 7) / 8 : sizeOf(leaf.kind);
}

bool mayBeShared(unsigned addressSpace) {
  return addressSpace == genericSpace || addressSpace == sharedSpace || addressSpace == clusterSharedSpace;
}

/// Emits one operation on the scalars of `type`; wide types in pieces of maxAtomicElements.
void emitPieces(Decoder &decoder, AtomicCode code, llvm::Type *type, Reg pointer, uint64_t alignment,
                llvm::ArrayRef<Reg> out, llvm::ArrayRef<Reg> in) {
  Leaves leaves = decoder.leaves(type);
  bool compares = code.op == AtomicOp::CompareExchange;
  if (leaves.size() > maxAtomicElements && code.op > AtomicOp::Store)
    return decoder.fail("unsupported atomic operation on more than " + llvm::Twine(maxAtomicElements) + " elements");
  for (size_t from = 0; from < leaves.size(); from += maxAtomicElements) {
    size_t count = std::min<size_t>(maxAtomicElements, leaves.size() - from);
    uint32_t start = leaves[from].offset,
             end = leaves[from + count - 1].offset + bytesOf(decoder, leaves[from + count - 1]);
    Reg address = pointer;
    if (start) {
      address = decoder.newReg(Kind::Pointer);
      decoder.emit(displacementHandler(decoder.width()), address, {pointer}, start);
    }
    Regs sources(in.begin(), in.end()), results(out.begin(), out.end());
    if (!compares && !in.empty())
      sources = Regs(in.begin() + from, in.begin() + from + count);
    if (!out.empty())
      results = Regs(out.begin() + from, out.begin() + from + count);
    uint64_t aligned = start ? std::min<uint64_t>(alignment, start & -start) : alignment;
    if (mayBeShared(code.addressSpace))
      decoder.noteSharedAccess(end - start, aligned);
    Op &op = decoder.emitWide(atomicHandler(decoder.width()), results, sources, code.pack());
    op.a = address;
    op.registers |= Op::HasA;
    OpOperands &x = decoder.operandsOf(op);
    x.numbers = {int64_t(end - start), static_cast<int64_t>(aligned)};
    for (size_t i = from; i < from + count; ++i) {
      x.numbers.push_back(bytesOf(decoder, leaves[i]));
      x.offsets.push_back(leaves[i].offset - start);
    }
  }
}

/// What clang makes of CUDA's own atomic functions.
bool isCudaFunction(const llvm::AtomicRMWInst &instruction) {
  return instruction.getOrdering() == llvm::AtomicOrdering::SequentiallyConsistent &&
         instruction.getSyncScopeID() == llvm::SyncScope::System;
}

} // namespace

void decodeAtomicRmw(Decoder &decoder, llvm::AtomicRMWInst &instruction) {
  AtomicScope scope = scopeOf(decoder, instruction.getContext(), instruction.getSyncScopeID());
  AtomicCode code = codeOf(instruction.getOrdering(), scope);
  if (decoder.chip().info.nvidia && isCudaFunction(instruction))
    code = codeOf(llvm::AtomicOrdering::Monotonic, AtomicScope::Device);
  const auto *known = std::find_if(std::begin(operationNames), std::end(operationNames),
                                   [&](const OperationName &o) { return o.name == instruction.getOperation(); });
  if (known == std::end(operationNames))
    return decoder.fail("unsupported operation of atomicrmw '" +
                        llvm::AtomicRMWInst::getOperationName(instruction.getOperation()) + "'");
  code.op = known->op;
  code.resultUsed = !instruction.use_empty();
  code.addressSpace = instruction.getPointerAddressSpace();
  Regs value = decoder.regs(instruction.getValOperand());
  Reg pointer = decoder.reg(instruction.getPointerOperand());
  Regs out = decoder.freshResults(&instruction);
  emitPieces(decoder, code, instruction.getType(), pointer, instruction.getAlign().value(), out, value);
}

void decodeCmpXchg(Decoder &decoder, llvm::AtomicCmpXchgInst &instruction) {
  AtomicCode code = codeOf(instruction.getSuccessOrdering(),
                           scopeOf(decoder, instruction.getContext(), instruction.getSyncScopeID()));
  code.acquire |= llvm::isAcquireOrStronger(instruction.getFailureOrdering());
  code.op = AtomicOp::CompareExchange;
  code.addressSpace = instruction.getPointerAddressSpace();
  llvm::Type *type = instruction.getCompareOperand()->getType();
  Regs expected = decoder.regs(instruction.getCompareOperand()), in = expected;
  in.append(decoder.regs(instruction.getNewValOperand()));
  Reg pointer = decoder.reg(instruction.getPointerOperand());
  if (expected.size() != 1)
    return decoder.fail("unsupported width of cmpxchg");
  const Regs results = decoder.freshResults(&instruction);
  emitPieces(decoder, code, type, pointer, instruction.getAlign().value(), {results[0]}, in);
  Kind kind = decoder.kindOfReg(expected[0]);
  decoder.emit(integerTestHandler(IntegerTest::Eq, kind, decoder.width()), results[1], {results[0], expected[0]});
}

void decodeFence(Decoder &decoder, llvm::FenceInst &instruction) {
  AtomicCode code =
      codeOf(instruction.getOrdering(), scopeOf(decoder, instruction.getContext(), instruction.getSyncScopeID()));
  bool global = true, shared = true;
  llvm::MMRAMetadata annotations(instruction);
  for (llvm::StringRef prefix : {"amdgpu-synchronize-as", "amdgpu-as"}) {
    if (!annotations.hasTagWithPrefix(prefix))
      continue;
    global = annotations.hasTag(prefix, "global");
    shared = annotations.hasTag(prefix, "local");
  }
  emitFence(decoder, code.release, code.acquire, code.scope, global, shared);
}

void decodeAtomicLoad(Decoder &decoder, llvm::LoadInst &instruction) {
  AtomicScope scope = instruction.isAtomic() ? scopeOf(decoder, instruction.getContext(), instruction.getSyncScopeID())
                                             : AtomicScope::System;
  AtomicCode code = codeOf(instruction.getOrdering(), scope);
  code.op = AtomicOp::Load;
  code.addressSpace = instruction.getPointerAddressSpace();
  Reg pointer = decoder.reg(instruction.getPointerOperand());
  Regs out = decoder.freshResults(&instruction);
  emitPieces(decoder, code, instruction.getType(), pointer, instruction.getAlign().value(), out, {});
}

void decodeAtomicStore(Decoder &decoder, llvm::StoreInst &instruction) {
  AtomicScope scope = instruction.isAtomic() ? scopeOf(decoder, instruction.getContext(), instruction.getSyncScopeID())
                                             : AtomicScope::System;
  AtomicCode code = codeOf(instruction.getOrdering(), scope);
  code.op = AtomicOp::Store;
  code.addressSpace = instruction.getPointerAddressSpace();
  Reg pointer = decoder.reg(instruction.getPointerOperand());
  Regs in = decoder.regs(instruction.getValueOperand());
  emitPieces(decoder, code, instruction.getValueOperand()->getType(), pointer, instruction.getAlign().value(), {}, in);
}

std::vector<Reg> emitAtomic(Decoder &decoder, const AtomicSpec &spec, Reg address, std::span<const Reg> operands) {
  static constexpr unsigned spaces[] = {genericSpace, globalSpace, sharedSpace, localSpace};
  AtomicCode code;
  code.op = spec.op;
  code.acquire = spec.acquire;
  code.release = spec.release;
  code.scope = spec.scope;
  code.addressSpace = spaces[static_cast<unsigned>(spec.space)];
  code.resultUsed = spec.resultUsed;
  unsigned bytes = sizeOf(spec.kind), total = bytes * spec.elements;
  size_t wanted = spec.op == AtomicOp::Load              ? 0
                  : spec.op == AtomicOp::CompareExchange ? 2 * spec.elements
                                                         : spec.elements;
  if (operands.size() != wanted || spec.elements > maxAtomicElements) {
    decoder.fail("unsupported operands of an atomic operation");
    return {};
  }
  std::vector<Reg> out;
  for (unsigned i = 0; spec.op != AtomicOp::Store && i < spec.elements; ++i)
    out.push_back(decoder.newReg(spec.kind));
  uint64_t alignment = spec.alignment ? spec.alignment : total & -total;
  if (mayBeShared(code.addressSpace))
    decoder.noteSharedAccess(total, alignment);
  Op &op = decoder.emitWide(atomicHandler(decoder.width()), out, {operands.data(), operands.size()}, code.pack());
  op.a = address;
  op.registers |= Op::HasA;
  OpOperands &x = decoder.operandsOf(op);
  // Operands may come in registers of another kind of the same size (b32 for f32); what counts is the operation's.
  for (Kind &kind : x.inKinds)
    if (sizeOf(kind) == bytes)
      kind = spec.kind;
  x.numbers = {total, static_cast<int64_t>(alignment)};
  for (unsigned i = 0; i < spec.elements; ++i) {
    x.numbers.push_back(bytes);
    x.offsets.push_back(i * bytes);
  }
  return out;
}

void emitFence(Decoder &decoder, bool release, bool acquire, AtomicScope scope, bool global, bool shared) {
  if (scope == AtomicScope::Warp || (!global && !shared))
    return;
  AtomicCode code;
  code.release = release;
  code.acquire = acquire;
  // A fence for shared memory only reaches no other block.
  code.scope = global ? scope : AtomicScope::Block;
  Op &op = decoder.emit(fenceHandler());
  op.imm = code.pack();
}

} // namespace tilejit::sim
