// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rules of mma, mma.sp and wmma. Intrinsics and assembly name the same words in different orders, so a name is read as
// a set of words; what it says is looked up in the table of instructions.

#include "nvidia/Matrix.h"

#include "core/Pointers.h"
#include "decode/Decoder.h"
#include "nvidia/Capability.h"
#include "nvidia/LoadMatrix.h"
#include "nvidia/MatrixMemory.h"
#include "nvidia/Rules.h"

#include <algorithm>

namespace tilejit::sim {

namespace {

// --- Names ----------------------------------------------------------------------------------------------------------

/// What the words of a name say.
struct Words {
  bool wmma = false, sparse = false, load = false, store = false, stride = false;
  bool saturate = false, count = false, isXor = false;
  llvm::StringRef shape, unknown;
  char fragment = 0; ///< Of loads and stores.
  llvm::SmallVector<llvm::StringRef, 2> layouts;
  llvm::SmallVector<MmaType, 4> types;
  unsigned space = genericSpace; ///< Assembly: .shared, .global.
};

bool isShape(llvm::StringRef word) {
  return word.size() > 5 && word[0] == 'm' && word[1] >= '0' && word[1] <= '9' && word.contains('n') &&
         word.contains('k');
}

bool readType(Words &words, llvm::StringRef word) {
  for (unsigned i = 0; i <= static_cast<unsigned>(MmaType::S32); ++i)
    if (word == llvm::StringRef(mmaTypeName(static_cast<MmaType>(i)))) {
      words.types.push_back(static_cast<MmaType>(i));
      return true;
    }
  return false;
}

void readWord(Words &words, llvm::StringRef word) {
  static constexpr llvm::StringLiteral ignored[] = {"mma", "sync", "aligned", "rn", "ordered", "metadata"};
  struct Flag {
    llvm::StringLiteral word;
    bool Words::*flag;
  };
  static constexpr Flag flags[] = {
      {"wmma", &Words::wmma},          {"sp", &Words::sparse},   {"sp::ordered_metadata", &Words::sparse},
      {"load", &Words::load},          {"store", &Words::store}, {"stride", &Words::stride},
      {"satfinite", &Words::saturate}, {"popc", &Words::count},  {"xor", &Words::isXor}};
  for (const Flag &flag : flags)
    if (word == flag.word) {
      words.*flag.flag = true;
      return;
    }
  if (isShape(word))
    words.shape = word;
  else if (word == "row" || word == "col")
    words.layouts.push_back(word);
  else if (word == "shared" || word == "shared::cta")
    words.space = sharedSpace;
  else if (word == "global")
    words.space = globalSpace;
  else if (word.size() == 1 && word[0] >= 'a' && word[0] <= 'd' && (words.load || words.store))
    words.fragment = word[0];
  else if (!llvm::is_contained(ignored, word) && word != "and" && !readType(words, word) &&
           !(word.size() >= 2 && word[0] == 'p' && word[1] >= '0' && word[1] <= '9'))
    words.unknown = word;
}

/// Reads the words of a name; false: the decoder has failed.
bool readWords(Decoder &decoder, llvm::StringRef name, Words &words) {
  llvm::SmallVector<llvm::StringRef, 16> list;
  llvm::StringRef rest = name;
  rest.consume_front("llvm.nvvm.");
  rest.split(list, '.', -1, false);
  for (llvm::StringRef word : list)
    readWord(words, word);
  if (!words.unknown.empty() || words.shape.empty() || words.types.empty()) {
    decoder.fail("unsupported on " + llvm::StringRef(decoder.chip().info.name) + ": matrix instruction '" + name + "'" +
                 (words.unknown.empty() ? "" : " ('" + words.unknown + "' is not known)"));
    return false;
  }
  return true;
}

/// Types in the order of names: "d a b c"; or those of A (and B) alone; or, of f16, "d c".
bool readTypes(const Words &words, MmaSpec &spec) {
  llvm::ArrayRef<MmaType> types = words.types;
  if (types.size() == 4) {
    spec.d = types[0];
    spec.a = types[1];
    spec.b = types[2];
    spec.c = types[3];
    return true;
  }
  auto isHalfOrFloat = [](MmaType type) { return type == MmaType::F16 || type == MmaType::F32; };
  if (types.size() == 2 && isHalfOrFloat(types[0]) && isHalfOrFloat(types[1])) {
    spec.d = types[0];
    spec.c = types[1];
    return true;
  }
  if (types.size() > 2)
    return false;
  spec.a = types[0];
  spec.b = types.back();
  MmaClass kind = mmaClassOf(spec.a);
  spec.c = spec.d = kind == MmaClass::F64                                                       ? MmaType::F64
                    : kind == MmaClass::Int8 || kind == MmaClass::Int4 || kind == MmaClass::Bit ? MmaType::S32
                                                                                                : MmaType::F32;
  return true;
}

/// Whether accumulators fit the operands.
bool typesFit(const MmaSpec &spec) {
  MmaClass kind = mmaClassOf(spec.a);
  if (kind != mmaClassOf(spec.b) || spec.a == MmaType::F32 || spec.a == MmaType::S32)
    return false;
  auto fits = [kind](MmaType type) {
    switch (kind) {
    case MmaClass::F16:
    case MmaClass::Fp8:
      return type == MmaType::F16 || type == MmaType::F32;
    case MmaClass::BF16:
    case MmaClass::TF32:
      return type == MmaType::F32;
    case MmaClass::F64:
      return type == MmaType::F64;
    default:
      return type == MmaType::S32;
    }
  };
  return fits(spec.c) && fits(spec.d);
}

std::string joinLayouts(const Words &words) {
  return words.layouts.size() == 2 ? (words.layouts[0] + "." + words.layouts[1]).str() : std::string();
}

/// The row of an instruction that the chip has; null: the decoder has failed.
const MmaRow *findRow(Decoder &decoder, llvm::StringRef name, const MmaSpec &spec, bool countsAnd) {
  const MmaRow *row = findMmaRow(spec);
  if (!row) {
    decoder.fail("there is no matrix instruction '" + name + "'");
    return nullptr;
  }
  return needsChip(decoder, std::max(row->capability, countsAnd ? 80u : 0u), name) ? row : nullptr;
}

// --- Products -------------------------------------------------------------------------------------------------------

/// Registers of A, B, C and D, and what sparse products have beside them.
struct Operands {
  Regs a, b, c, d;
  Reg metadata = 0;
  int64_t selector = 0;
};

bool checkCount(Decoder &decoder, llvm::StringRef name, char which, const MmaOperand &operand, const Regs &regs) {
  if (operand.registers == regs.size())
    return true;
  decoder.fail("'" + name + "' has " + llvm::Twine(regs.size()) + " registers for " + llvm::Twine(which) + " where " +
               llvm::Twine(operand.registers) + " are needed");
  return false;
}

void emitProduct(Decoder &decoder, llvm::StringRef name, MmaSpec spec, const MmaRow &row, const Operands &operands) {
  auto bytesOf = [&](const Regs &regs) {
    return regs.empty() ? uint8_t(4) : static_cast<uint8_t>(sizeOf(decoder.kindOfReg(regs[0])));
  };
  spec.registerBytes = {bytesOf(operands.a), bytesOf(operands.b), bytesOf(operands.c), bytesOf(operands.d)};
  const MmaPlan &plan = mmaPlan(spec, row);
  if (!checkCount(decoder, name, 'A', plan.a, operands.a) || !checkCount(decoder, name, 'B', plan.b, operands.b) ||
      !checkCount(decoder, name, 'C', plan.c, operands.c) || !checkCount(decoder, name, 'D', plan.d, operands.d))
    return;
  Regs in = operands.a;
  in.append(operands.b);
  in.append(operands.c);
  if (row.metadata != MmaMetadata::None) {
    unsigned bits = mmaBits(spec.a), chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4, lanes = plan.k / chunk / 4;
    if (operands.selector < 0 || operands.selector >= 4 / lanes)
      return decoder.fail("the sparsity selector of '" + name + "' is " + llvm::Twine(operands.selector) +
                          "; it must be below " + llvm::Twine(4 / lanes));
    in.push_back(operands.metadata);
  }
  Op &op = decoder.emitWide(runMma, operands.d, in, operands.selector);
  decoder.operandsOf(op).table = &plan;
}

MmaSpec specOf(const Words &words, llvm::StringRef layouts) {
  MmaSpec spec;
  spec.family = words.wmma ? MmaFamily::Wmma : words.sparse ? MmaFamily::Sparse : MmaFamily::Mma;
  spec.shape = words.shape;
  spec.layouts = layouts;
  spec.saturate = words.saturate;
  spec.isXor = words.isXor;
  return spec;
}

/// What a name of a product means; null row: the decoder has failed.
const MmaRow *readProduct(Decoder &decoder, llvm::StringRef name, const Words &words, llvm::StringRef layouts,
                          MmaSpec &spec) {
  spec = specOf(words, layouts);
  bool isBit = readTypes(words, spec) && spec.a == MmaType::B1;
  if (!typesFit(spec) || words.layouts.size() != 2 || words.count != isBit) {
    decoder.fail("there is no matrix instruction '" + name + "'");
    return nullptr;
  }
  return findRow(decoder, name, spec, isBit && !words.isXor);
}

void productCall(Call &call) {
  Words words;
  if (!readWords(call.decoder, call.name, words))
    return;
  std::string layouts = joinLayouts(words);
  MmaSpec spec;
  const MmaRow *row = readProduct(call.decoder, call.name, words, layouts, spec);
  if (!row)
    return;
  Operands operands;
  const MmaType types[] = {spec.a, spec.b, spec.c};
  Regs *lists[] = {&operands.a, &operands.b, &operands.c};
  unsigned argument = 0;
  for (unsigned i = 0; i < 3; ++i)
    while (argument < call.size()) {
      lists[i]->append(call.regs(argument++));
      unsigned bytes = sizeOf(call.decoder.kindOfReg(lists[i]->front()));
      if (lists[i]->size() >= mmaOperand(*row, static_cast<char>('a' + i), types[i], bytes).registers)
        break;
    }
  if (row->metadata != MmaMetadata::None && argument + 2 <= call.size()) {
    operands.metadata = call.reg(argument);
    operands.selector = call.constant(argument + 1);
  }
  operands.d = call.results();
  emitProduct(call.decoder, call.name, spec, *row, operands);
}

/// Registers of an operand {a, b, ...} or a, of what an element of the type lies in.
Regs groupOf(AsmStatement &s, unsigned operand, MmaType type) {
  Kind kind = mmaBits(type) == 64 ? Kind::F64 : Kind::I32;
  if (s.operands[operand].form != AsmOperand::Form::Group)
    return {s.reg(operand, kind)};
  Regs regs;
  for (const AsmOperand &part : s.operands[operand].parts)
    regs.push_back(s.decoder.asmRegister(part, kind, s.text));
  return regs;
}

/// mma and wmma.mma: d, a, b, c; mma.sp: d, a, b, c, metadata, selector.
void productStatement(AsmStatement &s) {
  Words words;
  if (!readWords(s.decoder, s.mnemonic, words))
    return;
  std::string layouts = joinLayouts(words);
  MmaSpec spec;
  const MmaRow *row = readProduct(s.decoder, s.mnemonic, words, layouts, spec);
  if (!row)
    return;
  bool sparse = row->metadata != MmaMetadata::None;
  if (s.operands.size() != (sparse ? 6u : 4u))
    return s.decoder.fail("malformed assembly: '" + s.text + "' must have " + llvm::Twine(sparse ? 6 : 4) +
                          " operands");
  Operands operands{groupOf(s, 1, spec.a), groupOf(s, 2, spec.b), groupOf(s, 3, spec.c), groupOf(s, 0, spec.d)};
  if (sparse) {
    operands.metadata = s.reg(4, Kind::I32);
    operands.selector = s.number(5);
  }
  if (!s.decoder.failed())
    emitProduct(s.decoder, s.mnemonic, spec, *row, operands);
}

// --- Fragments ------------------------------------------------------------------------------------------------------

/// A wmma.load or wmma.store; `stride` is null when lines follow each other.
void emitFragment(Decoder &decoder, llvm::StringRef name, const Words &words, const Regs &regs, Reg address,
                  unsigned space, const Reg *stride) {
  MmaType type = words.types[0];
  bool isAccumulator = words.fragment == 'c' || words.fragment == 'd';
  if (!words.fragment || words.layouts.size() != 1 || regs.empty())
    return decoder.fail("there is no matrix instruction '" + name + "'");
  bool rowMajor = words.layouts[0] == "row";
  // Accumulators of a shape are alike for all types of A and B: take the row of any that has them.
  const MmaRow *row = nullptr;
  for (const MmaRow &candidate : mmaRows()) {
    bool fits = candidate.types == mmaClassOf(type);
    if (isAccumulator)
      fits = type == MmaType::F64   ? candidate.types == MmaClass::F64
             : type == MmaType::F16 ? candidate.types == MmaClass::F16
             : type == MmaType::F32 ? candidate.types == MmaClass::F16 || candidate.types == MmaClass::TF32
                                    : candidate.types == MmaClass::Int8 || candidate.types == MmaClass::Int4 ||
                                          candidate.types == MmaClass::Bit;
    if (!row && fits && candidate.family == MmaFamily::Wmma && candidate.shape == std::string_view(words.shape))
      row = &candidate;
  }
  if (!row)
    return decoder.fail("there is no matrix instruction '" + name + "'");
  if (!needsChip(decoder, row->capability, name))
    return;
  unsigned bytes = sizeOf(decoder.kindOfReg(regs[0]));
  char which = isAccumulator ? 'c' : words.fragment;
  const WmmaAccess &access = wmmaAccess(*row, which, type, bytes, rowMajor, words.store);
  if (!checkCount(decoder, name, words.fragment, access.operand, regs))
    return;
  MmaSizes sizes = mmaSizes(row->shape, row->types);
  unsigned lines = which == 'b' ? sizes.k : sizes.m, columns = access.operand.columns;
  unsigned length = (rowMajor ? columns : lines) * access.bits / access.strideBits;
  decoder.noteSharedAccess(access.runBytes, access.runBytes);
  Op &op = words.store ? decoder.emitWide(accessFragment, {}, regs, space)
                       : decoder.emitWide(accessFragment, regs, {}, space);
  decoder.operandsOf(op).table = &access;
  op.a = address;
  op.b = stride ? *stride : decoder.constant(Kind::I32, length);
  op.registers |= Op::HasA | Op::HasB;
}

/// llvm.nvvm.wmma.SHAPE.{load,store}...: pointer, registers of a store, stride.
void wmmaCall(Call &call) {
  Words words;
  if (!readWords(call.decoder, call.name, words))
    return;
  if (!words.load && !words.store)
    return productCall(call);
  unsigned last = call.size() - (words.stride ? 1 : 0);
  Regs regs;
  for (unsigned i = 1; i < last; ++i)
    regs.append(call.regs(i));
  Reg stride = words.stride ? call.reg(last) : 0;
  emitFragment(call.decoder, call.name, words, words.load ? call.results() : regs, call.reg(0),
               call.call.getArgOperand(0)->getType()->getPointerAddressSpace(), words.stride ? &stride : nullptr);
}

/// wmma.load r, [p]{, stride}; wmma.store [p], r{, stride}; wmma.mma.
void wmmaStatement(AsmStatement &s) {
  Words words;
  if (!readWords(s.decoder, s.mnemonic, words))
    return;
  if (!words.load && !words.store)
    return productStatement(s);
  if (s.operands.size() < 2 || s.operands.size() > 3)
    return s.decoder.fail("malformed assembly: '" + s.text + "' must have a pointer, registers and at most a stride");
  Regs regs = groupOf(s, words.store ? 1 : 0, words.types[0]);
  Reg address = s.address(words.store ? 0 : 1);
  Reg stride = s.operands.size() == 3 ? s.reg(2, Kind::I32) : 0;
  if (!s.decoder.failed())
    emitFragment(s.decoder, s.mnemonic, words, regs, address, words.space, s.operands.size() == 3 ? &stride : nullptr);
}

} // namespace

void addNvidiaMatrixRules(Rules &rules) {
  addLoadMatrixRules(rules);
  rules.callPrefix("llvm.nvvm.mma.", productCall);
  rules.callPrefix("llvm.nvvm.wmma.", wmmaCall);
  rules.assembly("mma", productStatement);
  rules.assembly("wmma", wmmaStatement);
}

} // namespace tilejit::sim
