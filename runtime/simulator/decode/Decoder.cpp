// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The decoder's frame: values and registers, emission of operations, parameters, blocks.

#include "decode/Decoder.h"

#include "core/Handlers.h"
#include "decode/Undefined.h"
#include "nvidia/WarpgroupProduct.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace tilejit::sim {

namespace {

/// "  %5 = load i32, ptr %4, align 4" without indentation and metadata, shortened.
std::string printed(const llvm::Value &value, llvm::ModuleSlotTracker &numbers) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream, numbers, true);
  size_t begin = text.find_first_not_of(" \n");
  text = begin == std::string::npos ? "" : text.substr(begin);
  for (size_t cut : {text.find(", !dbg"), text.find(", !tbaa"), text.find('\n')})
    if (cut != std::string::npos)
      text.resize(std::min(text.size(), cut));
  if (text.size() > 200)
    text = text.substr(0, 197) + "...";
  return text;
}

std::string placeOf(const llvm::Instruction &instruction) {
  const llvm::DILocation *location = instruction.getDebugLoc();
  if (!location)
    return {};
  // Inlined code: the innermost place is the one that a person looks for.
  std::string file = location->getFilename().str();
  if (location->getLine() == 0) // A part of a description: it has a name and no lines.
    return file;
  return (file.empty() ? "line " : file + ":") + std::to_string(location->getLine()) + ":" +
         std::to_string(location->getColumn());
}

} // namespace

Decoder::Decoder(llvm::Function &kernel, const Chip &chip, const Rules &rules, Program &program)
    : chip_(chip), rules_(rules), program_(program), layout_(kernel.getParent()->getDataLayout()), kernel_(kernel) {}

Status Decoder::run() {
  placeShared();
  decodeParameters();
  if (status_.isOk())
    decodeBlocks();
  if (!status_.isOk())
    return status_;
  trackUndefined(program_, undefined_);
  trackProducts(program_);
  allocateRegisters(program_, kinds_);
  return Status::ok();
}

void Decoder::fail(const llvm::Twine &what) {
  if (!status_.isOk())
    return;
  std::string message = what.str();
  status_ = Status(StatusCode::InvalidArgument, message);
  if (!instruction_)
    return;
  std::string place = placeOf(*instruction_);
  llvm::ModuleSlotTracker numbers(kernel_.getParent());
  numbers.incorporateFunction(kernel_);
  status_ = std::move(status_).withDetail("in: " + printed(*instruction_, numbers));
  if (!place.empty())
    status_ = std::move(status_).at(place);
}

// --- Values --------------------------------------------------------------------------------------------------------

Kind Decoder::kindOf(llvm::Type *type) const {
  if (type->isHalfTy())
    return Kind::F16;
  if (type->isBFloatTy())
    return Kind::BF16;
  if (type->isFloatTy())
    return Kind::F32;
  if (type->isDoubleTy())
    return Kind::F64;
  if (type->isPointerTy())
    return Kind::Pointer;
  unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 64;
  return bits == 1 ? Kind::I1 : bits <= 8 ? Kind::I8 : bits <= 16 ? Kind::I16 : bits <= 32 ? Kind::I32 : Kind::I64;
}

static void flatten(const Decoder &decoder, llvm::Type *type, uint64_t offset, Leaves &leaves) {
  const llvm::DataLayout &layout = decoder.layout();
  if (auto *structure = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout *places = layout.getStructLayout(structure);
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      flatten(decoder, structure->getElementType(i), offset + places->getElementOffset(i), leaves);
  } else if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    uint64_t step = layout.getTypeAllocSize(array->getElementType());
    for (uint64_t i = 0; i < array->getNumElements(); ++i)
      flatten(decoder, array->getElementType(), offset + i * step, leaves);
  } else if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    uint64_t bits = layout.getTypeSizeInBits(vector->getElementType());
    for (uint64_t i = 0; i < vector->getNumElements(); ++i)
      flatten(decoder, vector->getElementType(), offset + i * bits / 8, leaves);
  } else if (type->isPointerTy()) {
    unsigned space = type->getPointerAddressSpace();
    unsigned parts = layout.getPointerSizeInBits(space) > 64 ? 2 : 1; // Buffer resources.
    for (unsigned i = 0; i < parts; ++i)
      leaves.push_back({parts == 1 ? Kind::Pointer : Kind::I64, 64, static_cast<uint32_t>(offset + 8 * i), space});
  } else if (type->isIntegerTy() && type->getIntegerBitWidth() > 64) {
    for (unsigned rest = type->getIntegerBitWidth(), i = 0; rest; rest -= std::min(rest, 64u), ++i)
      leaves.push_back({Kind::I64, std::min(rest, 64u), static_cast<uint32_t>(offset + 8 * i), 0});
  } else if (!type->isVoidTy()) {
    auto bits = static_cast<unsigned>(layout.getTypeSizeInBits(type).getFixedValue());
    leaves.push_back({decoder.kindOf(type), bits, static_cast<uint32_t>(offset), 0});
  }
}

Leaves Decoder::leaves(llvm::Type *type) const {
  Leaves result;
  flatten(*this, type, 0, result);
  return result;
}

Reg Decoder::newReg(Kind kind) {
  kinds_.push_back(kind);
  return static_cast<Reg>(kinds_.size() - 1);
}

const Regs &Decoder::regs(llvm::Value *value) {
  auto found = values_.find(value);
  if (found != values_.end())
    return found->second;
  if (auto *constant = llvm::dyn_cast<llvm::Constant>(value)) {
    define(value, constantRegs(constant));
    return values_[value];
  }
  // A value that a decoding error left undefined.
  return freshResults(value);
}

Reg Decoder::reg(llvm::Value *value) {
  const Regs &all = regs(value);
  if (all.size() != 1) {
    fail("expected a scalar value");
    return all.empty() ? newReg(Kind::I64) : all[0];
  }
  return all[0];
}

Reg Decoder::constant(Kind kind, uint64_t bits, Constant::Base base) {
  if (unsigned size = sizeOf(kind); size < 8)
    bits &= (1ull << (8 * size)) - 1;
  for (const auto &[key, reg] : constants_)
    if (key == std::tuple(kind, bits, base))
      return reg;
  Reg reg = newReg(kind);
  constants_.push_back({{kind, bits, base}, reg});
  program_.constants.push_back({base, reg, kind, bits, 0});
  return reg;
}

void Decoder::define(llvm::Value *value, Regs regs) {
  if (size_t wanted = leaves(value->getType()).size(); regs.size() != wanted) {
    fail(llvm::Twine("a value of ") + llvm::Twine(wanted) + " scalars is given as " + llvm::Twine(regs.size()));
    freshResults(value);
    return;
  }
  values_[value] = std::move(regs);
}

const Regs &Decoder::freshResults(llvm::Value *value) {
  Regs made;
  for (const Leaf &leaf : leaves(value->getType()))
    made.push_back(newReg(leaf.kind));
  return values_[value] = std::move(made);
}

// --- Operations ----------------------------------------------------------------------------------------------------

Op &Decoder::emit(Handler handler) {
  Op op;
  op.run = handler;
  op.site = site_;
  if (predicated_) {
    op.inner = handler;
    op.run = predicatedHandler(width());
    op.predicate = predicate_;
    op.registers = static_cast<uint8_t>(Op::HasPredicate | Op::ReadsD | (negated_ ? Op::Negated : 0));
  }
  block_->ops.push_back(op);
  return block_->ops.back();
}

Op &Decoder::emit(Handler handler, Reg d, std::initializer_list<Reg> sources, int64_t imm) {
  Op &op = emit(handler);
  op.d = d;
  op.registers |= Op::HasD;
  uint32_t *slots[] = {&op.a, &op.b, &op.c};
  unsigned i = 0;
  for (Reg source : sources) {
    *slots[i] = source;
    op.registers |= static_cast<uint8_t>(Op::HasA << i++);
  }
  op.imm = imm;
  return op;
}

Op &Decoder::emitWide(Handler handler, llvm::ArrayRef<Reg> out, llvm::ArrayRef<Reg> in, int64_t imm) {
  auto operands = std::make_unique<OpOperands>();
  operands->in.assign(in.begin(), in.end());
  operands->out.assign(out.begin(), out.end());
  for (Reg r : in)
    operands->inKinds.push_back(kinds_[r]);
  for (Reg r : out)
    operands->outKinds.push_back(kinds_[r]);
  Op &op = emit(handler);
  op.imm = imm;
  op.x = operands.get();
  program_.operands.push_back(std::move(operands));
  return op;
}

OpOperands &Decoder::operandsOf(Op &op) { return const_cast<OpOperands &>(*op.x); }

void Decoder::setPredicate(Reg predicate, bool negated) {
  predicated_ = true;
  predicate_ = predicate;
  negated_ = negated;
}

Reg Decoder::widen(Reg reg) {
  if (sizeOf(kinds_[reg]) == 8)
    return reg;
  Reg wide = newReg(Kind::I64);
  emit(convertHandler(Kind::I64, kinds_[reg], false, width()), wide, {reg});
  return wide;
}

void Decoder::copy(Reg to, Reg from) { emit(copyHandler(kinds_[to], width()), to, {from}); }

void Decoder::noteSharedAccess(uint64_t size, uint64_t alignment) {
  uint64_t both = size | alignment | 16;
  program_.sharedGranule = std::min<uint32_t>(program_.sharedGranule, static_cast<uint32_t>(both & (0 - both)));
}

// --- Parameters and blocks -----------------------------------------------------------------------------------------

void Decoder::decodeParameters() {
  for (llvm::Argument &argument : kernel_.args()) {
    Parameter parameter;
    parameter.info.name = argument.hasName() ? argument.getName().str() : "#" + std::to_string(argument.getArgNo());
    llvm::Type *type = argument.getType();
    parameter.info.isPointer = type->isPointerTy();
    parameter.info.isFloat = type->isFloatingPointTy();
    llvm::Type *byValue = argument.getParamByValType() ? argument.getParamByValType() : argument.getParamByRefType();
    parameter.info.isByValue = byValue != nullptr;
    parameter.info.bytes = static_cast<uint32_t>(layout_.getTypeStoreSize(byValue ? byValue : type).getFixedValue());
    for (const Leaf &leaf : leaves(type)) {
      parameter.kinds.push_back(leaf.kind);
      parameter.offsets.push_back(leaf.offset);
    }
    const Regs &made = freshResults(&argument);
    parameter.regs.assign(made.begin(), made.end());
    program_.parameters.push_back(std::move(parameter));
  }
}

/// The numbers by which the text of a function names its blocks that have no name.
static llvm::DenseMap<const llvm::BasicBlock *, unsigned> numbersOfBlocks(const llvm::Function &function) {
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> numbers;
  unsigned next = 0;
  for (const llvm::Argument &argument : function.args())
    next += !argument.hasName();
  for (const llvm::BasicBlock &block : function) {
    if (!block.hasName())
      numbers[&block] = next++;
    for (const llvm::Instruction &instruction : block)
      next += !instruction.hasName() && !instruction.getType()->isVoidTy();
  }
  return numbers;
}

void Decoder::decodeBlocks() {
  std::vector<llvm::BasicBlock *> order = orderBlocks(kernel_);
  llvm::DenseMap<llvm::BasicBlock *, uint32_t> number;
  for (llvm::BasicBlock *block : order)
    number[block] = static_cast<uint32_t>(number.size());
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> slots = numbersOfBlocks(kernel_);
  auto sites = std::make_shared<std::vector<llvm::Instruction *>>();
  for (llvm::BasicBlock *block : order)
    for (llvm::PHINode &phi : block->phis())
      freshResults(&phi);
  program_.blocks.resize(order.size());
  for (llvm::BasicBlock *block : order) {
    block_ = &program_.blocks[number[block]];
    block_->name = block->hasName() ? block->getName().str() : std::to_string(slots[block]);
    block_->firstSite = static_cast<uint32_t>(sites->size());
    for (llvm::Instruction &instruction : *block) {
      instruction_ = &instruction;
      site_ = static_cast<uint32_t>(sites->size());
      sites->push_back(&instruction);
      ++block_->instructions;
      if (instruction.isTerminator())
        decodeTerminator(instruction, number);
      else if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        decodeCall(*this, rules_, *call);
      else if (!llvm::isa<llvm::PHINode>(instruction))
        decodeArithmetic(*this, instruction);
      if (failed())
        return;
    }
  }
  program_.numSites = static_cast<uint32_t>(sites->size());
  // Values without names are numbered once, at the first text that is asked for.
  auto numbers = std::make_shared<llvm::ModuleSlotTracker>(kernel_.getParent());
  program_.siteText = [sites, numbers, kernel = &kernel_](uint32_t site) -> std::string {
    if (site >= sites->size())
      return {};
    if (!numbers->getCurrentFunction())
      numbers->incorporateFunction(*kernel);
    return printed(*(*sites)[site], *numbers);
  };
  program_.siteLocation = [sites](uint32_t site) { return site < sites->size() ? placeOf(*(*sites)[site]) : ""; };
}

void Decoder::decodeTerminator(llvm::Instruction &instruction,
                               const llvm::DenseMap<llvm::BasicBlock *, uint32_t> &number) {
  auto addEdge = [&](llvm::BasicBlock *target) {
    Edge edge;
    edge.target = number.lookup(target);
    for (llvm::PHINode &phi : target->phis()) {
      const Regs to = regs(&phi), from = regs(phi.getIncomingValueForBlock(instruction.getParent()));
      for (size_t i = 0; i < to.size(); ++i)
        edge.copies.push_back({to[i], from[i], static_cast<uint8_t>(sizeOf(kinds_[to[i]]))});
    }
    block_->edges.push_back(std::move(edge));
    return static_cast<uint32_t>(block_->edges.size() - 1);
  };
  if (llvm::isa<llvm::ReturnInst>(instruction)) {
    emit(returnHandler(width()));
  } else if (llvm::isa<llvm::UnreachableInst>(instruction)) {
    emit(unreachableHandler(width()));
  } else if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(&instruction)) {
    // By number: the range of successors begins with the second one.
    for (unsigned i = 0; i < branch->getNumSuccessors(); ++i)
      addEdge(branch->getSuccessor(i));
    if (branch->isUnconditional()) {
      emit(jumpHandler(width()));
      return;
    }
    Op &op = emit(branchHandler(width()));
    op.a = reg(branch->getCondition());
    op.registers |= Op::HasA;
  } else if (auto *choice = llvm::dyn_cast<llvm::SwitchInst>(&instruction)) {
    addEdge(choice->getDefaultDest());
    for (auto &option : choice->cases())
      block_->cases.emplace_back(option.getCaseValue()->getZExtValue(), addEdge(option.getCaseSuccessor()));
    Reg value = reg(choice->getCondition());
    Op &op = emit(switchHandler(width()));
    op.a = value;
    op.registers |= Op::HasA;
    op.imm = sizeOf(kinds_[value]);
  } else {
    fail(llvm::Twine("unsupported terminator '") + instruction.getOpcodeName() + "'");
  }
}

} // namespace tilejit::sim
