// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// llvm.memcpy, memmove, memset, masked loads and stores, and LLVM's constrained floating-point intrinsics.

#include "decode/Intrinsics.h"

#include "core/CopyHandlers.h"
#include "core/Handlers.h"
#include "core/Pointers.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"

namespace tilejit::sim {

namespace {

bool mayBeShared(unsigned space) {
  return space == genericSpace || space == sharedSpace || space == clusterSharedSpace;
}

/// Notes pieces of an access: 16, 8, 4, 2, 1 bytes as far as the length needs them.
void notePieces(Decoder &d, unsigned space, uint64_t alignment, llvm::Value *length) {
  if (!mayBeShared(space))
    return;
  auto *known = llvm::dyn_cast<llvm::ConstantInt>(length);
  d.noteSharedAccess(known ? known->getZExtValue() | 16 : 1, alignment);
}

void memoryIntrinsic(Call &call) {
  Decoder &d = call.decoder;
  auto &access = llvm::cast<llvm::MemIntrinsic>(call.call);
  unsigned space = access.getDestAddressSpace();
  uint64_t alignment = access.getDestAlign().valueOrOne().value();
  Reg to = call.reg(0), second = call.reg(1), length = d.widen(call.reg(2));
  bool copies = llvm::isa<llvm::MemTransferInst>(access);
  Op &op = d.emitWide(copies ? copyMemoryHandler(d.width()) : fillMemoryHandler(d.width()), {}, {});
  op.a = to;
  op.b = second;
  op.c = length;
  op.registers |= Op::HasA | Op::HasB | Op::HasC;
  d.operandsOf(op).numbers = {static_cast<int64_t>(space), static_cast<int64_t>(alignment)};
  notePieces(d, space, alignment, access.getLength());
  if (!copies)
    return;
  auto &transfer = llvm::cast<llvm::MemTransferInst>(access);
  unsigned from = transfer.getSourceAddressSpace();
  uint64_t fromAlignment = transfer.getSourceAlign().valueOrOne().value();
  d.operandsOf(op).numbers.push_back(static_cast<int64_t>(from));
  d.operandsOf(op).numbers.push_back(static_cast<int64_t>(fromAlignment));
  notePieces(d, from, fromAlignment, access.getLength());
}

// --- Constrained floats --------------------------------------------------------------------------------------------

/// The text of a metadata argument.
llvm::StringRef metadataOf(const Call &call, unsigned argument) {
  auto *value = llvm::dyn_cast<llvm::MetadataAsValue>(call.call.getArgOperand(argument));
  auto *text = value ? llvm::dyn_cast<llvm::MDString>(value->getMetadata()) : nullptr;
  return text ? text->getString() : llvm::StringRef();
}

void constrainedCompare(Call &call) {
  static constexpr llvm::StringRef tests[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                              "uno",   "ueq", "ugt", "uge", "ult", "ule", "une", "true"};
  const auto *test = llvm::find(tests, metadataOf(call, 2));
  if (test == std::end(tests))
    return unsupportedCall(call);
  Decoder &d = call.decoder;
  const Regs results = call.results(), a = call.regs(0), b = call.regs(1);
  for (size_t i = 0; i < results.size(); ++i)
    d.emit(floatTestHandler(static_cast<unsigned>(test - tests), call.kind(0), d.width()), results[i], {a[i], b[i]});
}

void constrainedConversion(Call &call, bool isSigned) {
  Decoder &d = call.decoder;
  const Regs results = call.results(), sources = call.regs(0);
  for (size_t i = 0; i < results.size(); ++i)
    d.emit(convertHandler(d.kindOfReg(results[i]), call.kind(0), isSigned, d.width()), results[i], {sources[i]});
}

void constrainedIntrinsic(Call &call) {
  llvm::StringRef name = call.name;
  name.consume_front("llvm.experimental.constrained.");
  name = name.take_until([](char c) { return c == '.'; });
  for (unsigned i = 0; i < call.size(); ++i) {
    llvm::StringRef text = metadataOf(call, i);
    bool directed = text.starts_with("round.") && text != "round.tonearest" && text != "round.dynamic";
    // Conversions to integers truncate whatever the mode.
    if (directed && !name.starts_with("fpto"))
      return call.decoder.fail("unsupported rounding mode '" + text + "' of '" + call.name + "'");
  }
  if (name == "fcmp" || name == "fcmps")
    return constrainedCompare(call);
  if (name == "fptosi" || name == "fptoui" || name == "sitofp" || name == "uitofp" || name == "fptrunc" ||
      name == "fpext")
    return constrainedConversion(call, name == "fptosi" || name == "sitofp");
  llvm::StringRef function = llvm::StringSwitch<llvm::StringRef>(name)
                                 .Case("fadd", "add")
                                 .Case("fsub", "sub")
                                 .Case("fmul", "mul")
                                 .Case("fdiv", "div")
                                 .Case("frem", "fmod")
                                 .Default(name);
  if (!emitMath(call, function))
    unsupportedCall(call);
}

} // namespace

void addMemoryIntrinsicRules(Rules &rules) {
  for (llvm::StringRef prefix : {"llvm.memcpy.", "llvm.memmove.", "llvm.memset."})
    rules.callPrefix(prefix, memoryIntrinsic);
  for (llvm::StringRef prefix : {"llvm.masked.load.", "llvm.masked.store."})
    rules.callPrefix(prefix, [](Call &call) { decodeMaskedAccess(call.decoder, call.call); });
}

void addConstrainedIntrinsicRules(Rules &rules) {
  rules.callPrefix("llvm.experimental.constrained.", constrainedIntrinsic);
}

} // namespace tilejit::sim
