// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// cvt statements, and the conversions among llvm.nvvm's intrinsics.

#include "core/Handlers.h"
#include "nvidia/Capability.h"
#include "nvidia/Convert.h"
#include "nvidia/NvvmRules.h"
#include "nvidia/Ptx.h"
#include "nvidia/PtxRules.h"

namespace tilejit::sim {

namespace {

using Class = NumberType::Class;

Kind kindOfNumber(const NumberType &type) {
  switch (type.bits) {
  case 4:
  case 8:
    return Kind::I8;
  case 16:
    return type.format == &formatBf16 ? Kind::BF16 : type.format ? Kind::F16 : Kind::I16;
  case 32:
    return type.format ? Kind::F32 : Kind::I32;
  default:
    return type.kind == Class::Float ? Kind::F64 : Kind::I64;
  }
}

bool isInteger(const NumberType &type) { return type.kind == Class::Signed || type.kind == Class::Unsigned; }

/// A source register as wide as its number: wider ones lend their lower half.
Reg sourceOf(AsmStatement &s, unsigned operand, Kind kind) {
  const AsmOperand &source = s.operands[operand];
  Decoder &d = s.decoder;
  if (source.form == AsmOperand::Form::Register && sizeOf(d.kindOfReg(source.reg)) > sizeOf(kind)) {
    unsigned size = sizeOf(d.kindOfReg(source.reg));
    Kind from = size == 2 ? Kind::I16 : size == 4 ? Kind::I32 : Kind::I64;
    unsigned wanted = sizeOf(kind);
    Kind to = wanted == 1 ? Kind::I8 : wanted == 2 ? Kind::I16 : Kind::I32;
    Reg narrow = d.newReg(kind);
    d.emit(convertHandler(to, from, false, 32), narrow, {source.reg});
    return narrow;
  }
  return s.reg(operand, kind);
}

void storeResult(AsmStatement &s, Reg value, const NumberType &type) {
  const AsmOperand &target = s.operands[0];
  Decoder &d = s.decoder;
  Kind kind = kindOfNumber(type);
  if (target.form == AsmOperand::Form::Register && sizeOf(d.kindOfReg(target.reg)) > sizeOf(kind)) {
    unsigned size = sizeOf(d.kindOfReg(target.reg));
    Kind to = size == 2 ? Kind::I16 : size == 4 ? Kind::I32 : Kind::I64;
    Kind from = sizeOf(kind) == 1 ? Kind::I8 : sizeOf(kind) == 2 ? Kind::I16 : Kind::I32;
    d.emit(convertHandler(to, from, type.kind == Class::Signed, 32), target.reg, {value});
    return;
  }
  d.copy(s.reg(0, kind), value);
}

/// cvt{.modifiers}.dtype.atype d, a; or d, a, b for pairs.
void convertStatement(AsmStatement &s) {
  if (s.words.size() < 3 || s.operands.size() < 2 || s.operands.size() > 3)
    return unsupportedStatement(s);
  llvm::StringRef to = s.words[s.words.size() - 2], from = s.words.back();
  bool toPair = to.consume_back("x2"), fromPair = from.consume_back("x2");
  Conversion c;
  c.to = findNumberType(std::string_view(to));
  c.from = findNumberType(std::string_view(from));
  if (!c.to || !c.from || !readConversion(llvm::ArrayRef(s.words).drop_front().drop_back(2), c).empty() ||
      toPair != (fromPair || s.operands.size() == 3))
    return unsupportedStatement(s);
  if (conversionIsAvailable(s.decoder, c, s.text))
    emitConversion(s, c, toPair, fromPair);
}

} // namespace

bool conversionIsAvailable(Decoder &decoder, const Conversion &c, llvm::StringRef text) {
  for (const NumberType *type : {c.to, c.from}) {
    if (type->name == "e4m3" || type->name == "e5m2") {
      if (!needsChip(decoder, 89, text))
        return false;
    } else if (type->name == "e2m3" || type->name == "e3m2" || type->name == "e2m1" || type->name == "ue8m0") {
      if (!needsChip(decoder, 100, text))
        return false;
    } else if (type->name == "bf16" || type->name == "tf32") {
      if (!needsChip(decoder, 80, text))
        return false;
    }
  }
  return true;
}

llvm::StringRef readConversion(llvm::ArrayRef<llvm::StringRef> words, Conversion &c) {
  for (llvm::StringRef word : words) {
    if (std::optional<Rounding> rounding = parseRounding(word)) {
      c.rounding = *rounding;
      c.integral = word.size() == 3 && word.ends_with("i");
    } else if (word == "ftz") {
      c.flush = true;
    } else if (word == "sat") {
      c.saturate = true;
    } else if (word == "relu") {
      c.relu = true;
    } else if (word == "satfinite") {
      c.finite = true;
    } else if (word != "pack") {
      return word;
    }
  }
  // Integer targets always come from an integral number; formats without infinity never overflow to it.
  if (isInteger(*c.to))
    c.integral = false;
  if (c.to->bits <= 8 && c.to->kind == Class::Float)
    c.finite = true;
  return {};
}

void emitConversion(Decoder &d, const Conversion &c, bool toPair, bool fromPair, Reg to, llvm::ArrayRef<Reg> from) {
  Handler handler = !toPair ? convertNumberHandler(c) : fromPair ? convertPairHandler(c) : convertTwoHandler(c);
  bool plain = !c.saturate && !c.relu && !c.finite && !c.flush;
  // Integers among themselves, and towards zero from floats of 32 bits: quicker handlers, the same numbers.
  if (!toPair && isInteger(*c.to) && isInteger(*c.from) && plain) {
    auto kind = [](const NumberType &type) { return kindOfNumber(type); };
    handler = convertHandler(kind(*c.to), kind(*c.from), c.from->kind == Class::Signed, 32);
  } else if (!toPair && isInteger(*c.from) && c.from->bits <= 32 && c.to->format == &formatF32 && plain &&
             c.rounding == Rounding::Nearest) {
    handler = convertHandler(Kind::F32, kindOfNumber(*c.from), c.from->kind == Class::Signed, 32);
  } else if (!toPair && isInteger(*c.to) && c.to->bits == 32 && c.from->format == &formatF32 && plain &&
             c.rounding == Rounding::Zero) {
    handler = convertHandler(Kind::I32, Kind::F32, c.to->kind == Class::Signed, 32);
  }
  emitInteger(d, {"", "", handler}, to, from, encodeConversion(c));
}

void emitConversion(AsmStatement &s, const Conversion &c, bool toPair, bool fromPair) {
  Decoder &d = s.decoder;
  auto pairKind = [](const NumberType &type) {
    return type.bits == 4 ? Kind::I8 : type.bits == 8 ? Kind::I16 : Kind::I32;
  };
  if (!toPair) {
    Reg value = d.newReg(kindOfNumber(*c.to));
    Reg source = sourceOf(s, 1, kindOfNumber(*c.from));
    emitConversion(d, c, false, false, value, {source});
    return storeResult(s, value, *c.to);
  }
  Regs sources;
  for (unsigned i = 1; i < s.operands.size(); ++i)
    sources.push_back(sourceOf(s, i, fromPair ? pairKind(*c.from) : kindOfNumber(*c.from)));
  emitConversion(d, c, true, fromPair, s.reg(0, pairKind(*c.to)), sources);
}

void addPtxConversionRules(Rules &rules) { rules.assembly("cvt", convertStatement); }

} // namespace tilejit::sim
