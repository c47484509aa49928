// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// PTX's loads, stores and atomic operations on all spaces, with vectors, widening, memory orders and scopes. Cache
// hints are read and change nothing.

#include "core/Atomics.h"
#include "core/Handlers.h"
#include "core/Pointers.h"
#include "nvidia/Ptx.h"
#include "nvidia/PtxRules.h"

#include "llvm/ADT/StringSwitch.h"

namespace tilejit::sim {

namespace {

/// What the words behind "ld", "st", "atom", "red" say.
struct AccessWords {
  unsigned addressSpace = genericSpace;
  AtomicSpace atomicSpace = AtomicSpace::Generic;
  AtomicScope scope = AtomicScope::Device;
  bool ordered = false; ///< volatile, relaxed, acquire, release: others may look on.
  bool acquire = false, release = false;
  unsigned elements = 1;
  PtxType type{PtxType::Class::Bits, Kind::I32, 32, false};
  llvm::StringRef operation; ///< Of atom and red.
  llvm::StringRef unknown;   ///< A word that has no meaning here.
};

bool readScope(llvm::StringRef word, AtomicScope &scope) {
  std::optional<AtomicScope> found = llvm::StringSwitch<std::optional<AtomicScope>>(word)
                                         .Case("cta", AtomicScope::Block)
                                         .Case("cluster", AtomicScope::Cluster)
                                         .Case("gpu", AtomicScope::Device)
                                         .Case("sys", AtomicScope::System)
                                         .Default(std::nullopt);
  scope = found.value_or(scope);
  return found.has_value();
}

bool readSpace(llvm::StringRef word, AccessWords &words) {
  struct Row {
    llvm::StringRef word;
    unsigned addressSpace;
    AtomicSpace atomicSpace;
  };
  static constexpr Row rows[] = {
      {"global", globalSpace, AtomicSpace::Global},      {"shared", sharedSpace, AtomicSpace::Shared},
      {"shared::cta", sharedSpace, AtomicSpace::Shared}, {"shared::cluster", clusterSharedSpace, AtomicSpace::Shared},
      {"local", localSpace, AtomicSpace::Local},         {"const", constantSpace, AtomicSpace::Global},
      {"param", parameterSpace, AtomicSpace::Global},    {"param::entry", parameterSpace, AtomicSpace::Global},
  };
  const auto *row = llvm::find_if(rows, [&](const Row &r) { return r.word == word; });
  if (row == std::end(rows))
    return false;
  words.addressSpace = row->addressSpace;
  words.atomicSpace = row->atomicSpace;
  return true;
}

/// Hints to caches, and .weak, .noftz: no meaning for results.
bool isHint(llvm::StringRef word) {
  static constexpr llvm::StringRef hints[] = {"weak", "nc", "ca", "cg",    "cs",     "cv",
                                              "lu",   "wb", "wt", "noftz", "unified"};
  return llvm::is_contained(hints, word) || word.starts_with("L1::") || word.starts_with("L2::") ||
         word.starts_with("level::");
}

AccessWords readWords(llvm::ArrayRef<llvm::StringRef> words, bool atomic) {
  AccessWords result;
  for (llvm::StringRef word : words.drop_front()) {
    if (isHint(word) || readSpace(word, result) || readScope(word, result.scope))
      continue;
    bool volatileAccess = word == "volatile" || word == "mmio";
    if (volatileAccess || word == "relaxed" || word == "acquire" || word == "release" || word == "acq_rel") {
      result.ordered = true;
      result.acquire |= word == "acquire" || word == "acq_rel";
      result.release |= word == "release" || word == "acq_rel";
      if (volatileAccess)
        result.scope = AtomicScope::System;
    } else if (word == "v2" || word == "v4" || word == "v8") {
      result.elements = static_cast<unsigned>(word[1] - '0');
    } else if (std::optional<PtxType> type = parsePtxType(word)) {
      result.type = *type;
    } else if (atomic && result.operation.empty()) {
      result.operation = word;
    } else {
      result.unknown = word;
    }
  }
  return result;
}

/// The operands of a vector, or the only one.
std::vector<AsmOperand> elementsOf(const AsmStatement &s, unsigned operand) {
  const AsmOperand &all = s.operands[operand];
  return all.form == AsmOperand::Form::Group ? all.parts : std::vector<AsmOperand>{all};
}

Kind integerKind(unsigned bytes) {
  return bytes == 1 ? Kind::I8 : bytes == 2 ? Kind::I16 : bytes == 4 ? Kind::I32 : Kind::I64;
}

/// Registers that hold an element in memory's width. Loads into wider registers go through fresh ones.
struct Element {
  Reg memory, target;
  bool widens;
};

/// Registers for what is loaded; 128-bit elements are two of 64.
std::vector<Element> targetsOf(AsmStatement &s, const std::vector<AsmOperand> &operands, Kind memory) {
  Decoder &d = s.decoder;
  std::vector<Element> elements;
  for (const AsmOperand &operand : operands) {
    bool widens = operand.form == AsmOperand::Form::Register && sizeOf(d.kindOfReg(operand.reg)) > sizeOf(memory);
    Reg target = widens ? operand.reg : d.asmRegister(operand, memory, s.text);
    elements.push_back({widens ? d.newReg(integerKind(sizeOf(memory))) : target, target, widens});
  }
  return elements;
}

void widen(Decoder &d, const Element &element, bool isSigned) {
  Kind to = integerKind(sizeOf(d.kindOfReg(element.target))), from = d.kindOfReg(element.memory);
  if (element.widens)
    d.emit(convertHandler(to, from, isSigned, d.width()), element.target, {element.memory});
}

Regs sourcesOf(AsmStatement &s, const std::vector<AsmOperand> &operands, Kind memory) {
  Decoder &d = s.decoder;
  Regs sources;
  for (const AsmOperand &operand : operands) {
    if (operand.form != AsmOperand::Form::Register || sizeOf(d.kindOfReg(operand.reg)) <= sizeOf(memory)) {
      sources.push_back(d.asmRegister(operand, memory, s.text));
      continue;
    }
    Reg narrow = d.newReg(integerKind(sizeOf(memory)));
    d.emit(convertHandler(integerKind(sizeOf(memory)), integerKind(sizeOf(d.kindOfReg(operand.reg))), false, d.width()),
           narrow, {operand.reg});
    sources.push_back(narrow);
  }
  return sources;
}

void plainAccess(Decoder &d, const AccessWords &words, Reg address, llvm::ArrayRef<Reg> out, llvm::ArrayRef<Reg> in) {
  bool store = !in.empty();
  size_t count = store ? in.size() : out.size();
  unsigned each = sizeOf(d.kindOfReg(store ? in[0] : out[0]));
  Op &op = d.emitWide(store ? storeHandler(d.width()) : loadHandler(d.width()), out, in, words.addressSpace);
  op.a = address;
  op.registers |= Op::HasA;
  OpOperands &x = d.operandsOf(op);
  auto bytes = static_cast<int64_t>(count * each);
  x.numbers = {bytes, bytes};
  for (size_t i = 0; i < count; ++i) {
    x.offsets.push_back(static_cast<uint32_t>(i * each));
    x.numbers.push_back(each);
  }
  if (words.addressSpace == sharedSpace || words.addressSpace == clusterSharedSpace ||
      words.addressSpace == genericSpace)
    d.noteSharedAccess(static_cast<uint64_t>(bytes), static_cast<uint64_t>(bytes));
}

AtomicSpec specOf(const AccessWords &words, AtomicOp op, Kind kind, unsigned elements) {
  AtomicSpec spec;
  spec.op = op;
  spec.kind = kind;
  spec.elements = elements;
  spec.acquire = words.acquire;
  spec.release = words.release;
  spec.scope = words.scope;
  spec.space = words.atomicSpace;
  return spec;
}

/// Whether the vector operand has as many parts as the mnemonic says.
bool fits(AsmStatement &s, const AccessWords &words, const std::vector<AsmOperand> &operands) {
  size_t wanted = words.elements * (words.type.bits == 128 ? 2 : 1);
  if (!words.unknown.empty()) {
    s.decoder.fail("unsupported modifier '." + words.unknown + "' in assembly '" + s.text + "'");
    return false;
  }
  if (operands.size() == wanted)
    return true;
  s.decoder.fail("malformed assembly: '" + s.text + "' needs " + llvm::Twine(wanted) + " registers");
  return false;
}

/// ld{.order}{.space}{.hints}{.vec}.type d, [a]{, policy}
void loadStatement(AsmStatement &s) {
  if (!expectOperands(s, 2, 3))
    return;
  AccessWords words = readWords(s.words, false);
  std::vector<AsmOperand> operands = elementsOf(s, 0);
  if (!fits(s, words, operands))
    return;
  Decoder &d = s.decoder;
  Kind memory = words.type.bits == 128 ? Kind::I64 : words.type.container();
  std::vector<Element> elements = targetsOf(s, operands, memory);
  Reg address = s.address(1);
  if (d.failed())
    return;
  if (words.ordered && words.addressSpace != localSpace) {
    AtomicSpec spec =
        specOf(words, AtomicOp::Load, integerKind(sizeOf(memory)), static_cast<unsigned>(elements.size()));
    std::vector<Reg> loaded = emitAtomic(d, spec, address, {});
    for (size_t i = 0; i < loaded.size(); ++i)
      d.copy(elements[i].memory, loaded[i]);
  } else {
    Regs out;
    for (const Element &element : elements)
      out.push_back(element.memory);
    plainAccess(d, words, address, out, {});
  }
  for (const Element &element : elements)
    widen(d, element, words.type.kind == PtxType::Class::Signed);
}

/// st{.order}{.space}{.hints}{.vec}.type [a], b{, policy}
void storeStatement(AsmStatement &s) {
  if (!expectOperands(s, 2, 3))
    return;
  AccessWords words = readWords(s.words, false);
  std::vector<AsmOperand> operands = elementsOf(s, 1);
  if (!fits(s, words, operands))
    return;
  Decoder &d = s.decoder;
  Kind memory = words.type.bits == 128 ? Kind::I64 : words.type.container();
  Regs sources = sourcesOf(s, operands, memory);
  Reg address = s.address(0);
  if (d.failed())
    return;
  if (!words.ordered || words.addressSpace == localSpace)
    return plainAccess(d, words, address, {}, sources);
  AtomicSpec spec = specOf(words, AtomicOp::Store, integerKind(sizeOf(memory)), static_cast<unsigned>(sources.size()));
  emitAtomic(d, spec, address, std::vector<Reg>(sources.begin(), sources.end()));
}

/// Values of an atomic operand as the elements that the operation works on: pairs are two.
std::vector<Reg> atomicValues(AsmStatement &s, unsigned operand, const PtxType &type) {
  std::vector<Reg> values;
  for (const AsmOperand &part : elementsOf(s, operand)) {
    Reg whole = s.decoder.asmRegister(part, type.container(), s.text);
    if (!type.pair) {
      values.push_back(whole);
      continue;
    }
    auto [low, high] = splitPair(s.decoder, whole, type.element);
    values.insert(values.end(), {low, high});
  }
  return values;
}

/// atom{.sem}{.scope}{.space}.op{.vec}.type d, [a], b{, c}; red without d.
void atomicStatement(AsmStatement &s) {
  bool reduces = s.words[0] == "red";
  AccessWords words = readWords(s.words, true);
  std::optional<AtomicOp> operation =
      atomicOperation(words.operation, words.type.isFloat(), words.type.kind == PtxType::Class::Signed);
  if (!operation || !words.unknown.empty() || words.type.bits == 128 || words.type.bits < 16)
    return unsupportedStatement(s);
  bool exchange = *operation == AtomicOp::CompareExchange;
  unsigned first = reduces ? 1 : 2;
  if (!expectOperands(s, first + 1 + exchange, first + 2 + exchange))
    return;
  Decoder &d = s.decoder;
  std::vector<Reg> values = atomicValues(s, first, words.type);
  unsigned elements = words.elements * (words.type.pair ? 2 : 1);
  if (values.size() != elements && !d.failed())
    d.fail("malformed assembly: '" + s.text + "' needs " + llvm::Twine(words.elements) + " registers");
  if (exchange) {
    std::vector<Reg> replacement = atomicValues(s, first + 1, words.type);
    values.insert(values.end(), replacement.begin(), replacement.end());
  }
  Reg address = s.address(first - 1);
  if (d.failed())
    return;
  AtomicSpec spec = specOf(words, *operation, words.type.element, elements);
  bool used = !reduces && s.operands[0].form != AsmOperand::Form::Ignored;
  spec.resultUsed = used;
  if (words.type.pair && words.elements == 1)
    spec.alignment = 4;
  std::vector<Reg> old = emitAtomic(d, spec, address, values);
  if (!used)
    return;
  std::vector<AsmOperand> targets = elementsOf(s, 0);
  for (size_t i = 0; i < targets.size() && !d.failed(); ++i) {
    Reg target = d.asmRegister(targets[i], words.type.container(), s.text);
    if (words.type.pair)
      joinPair(d, target, old[2 * i], old[2 * i + 1]);
    else
      d.copy(target, old[i]);
  }
}

/// Hints: nothing happens.
void hintStatement(AsmStatement &) {}

/// createpolicy...: a policy that nobody looks at.
void policyStatement(AsmStatement &s) {
  if (s.operands.empty())
    unsupportedStatement(s);
  else
    s.decoder.copy(s.reg(0, Kind::I64), s.decoder.constant(Kind::I64, 0));
}

} // namespace

std::optional<AtomicOp> atomicOperation(llvm::StringRef name, bool isFloat, bool isSigned) {
  return llvm::StringSwitch<std::optional<AtomicOp>>(name)
      .Case("add", isFloat ? AtomicOp::FAdd : AtomicOp::Add)
      .Case("min", isFloat    ? AtomicOp::FMin
                   : isSigned ? AtomicOp::Min
                              : AtomicOp::UMin)
      .Case("max", isFloat    ? AtomicOp::FMax
                   : isSigned ? AtomicOp::Max
                              : AtomicOp::UMax)
      .Case("and", AtomicOp::And)
      .Case("or", AtomicOp::Or)
      .Case("xor", AtomicOp::Xor)
      .Case("exch", AtomicOp::Exchange)
      .Case("cas", AtomicOp::CompareExchange)
      .Case("inc", AtomicOp::IncrementWrap)
      .Case("dec", AtomicOp::DecrementWrap)
      .Default(std::nullopt);
}

void addPtxMemoryRules(Rules &rules) {
  for (llvm::StringRef word : {"ld", "ldu"})
    rules.assembly(word, loadStatement);
  rules.assembly("st", storeStatement);
  rules.assembly("atom", atomicStatement);
  rules.assembly("red", atomicStatement);
  for (llvm::StringRef word : {"prefetch", "prefetchu", "applypriority", "discard"})
    rules.assembly(word, hintStatement);
  rules.assembly("createpolicy", policyStatement);
}

} // namespace tilejit::sim
