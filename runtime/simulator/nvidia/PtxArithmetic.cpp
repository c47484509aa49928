// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// PTX statements that compute: arithmetic and bits by the tables, additions with carry, comparisons, selections, moves.

#include "core/GlobalMemory.h"
#include "core/Handlers.h"
#include "core/MathLanes.h"
#include "nvidia/Ptx.h"
#include "nvidia/PtxRules.h"
#include "nvidia/Rules.h"

#include "llvm/ADT/StringExtras.h"

namespace tilejit::sim {

namespace {

Kind kindOfLetter(char letter) {
  return letter == 'p' ? Kind::I1 : letter == 'h' ? Kind::I16 : letter == 'r' ? Kind::I32 : Kind::I64;
}

/// A statement of the integer table.
void integerStatement(AsmStatement &s, const IntegerOperation &row) {
  bool hasNumber = row.registers.back() == '#';
  if (!expectOperands(s, row.registers.size(), row.registers.size()))
    return;
  Regs sources;
  for (size_t i = 1; i < row.registers.size() - hasNumber; ++i)
    sources.push_back(s.reg(static_cast<unsigned>(i), kindOfLetter(row.registers[i])));
  Reg d = s.reg(0, kindOfLetter(row.registers[0]));
  emitInteger(s.decoder, row, d, sources, hasNumber ? s.number(static_cast<unsigned>(s.operands.size() - 1)) : 0);
}

/// add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi.
void carryStatement(AsmStatement &s, const PtxType &type) {
  bool mad = s.words[0].starts_with("mad"), sub = s.words[0].starts_with("sub");
  CarryFlags flags;
  flags.op = !mad ? (sub ? CarryOp::Sub : CarryOp::Add) : s.has("hi") ? CarryOp::MadHigh : CarryOp::MadLow;
  flags.carryIn = s.words[0].ends_with("c");
  flags.carryOut = s.has("cc");
  flags.isSigned = type.kind == PtxType::Class::Signed;
  unsigned sources = mad ? 3 : 2;
  if (type.bits < 32 || (mad && !s.has("hi") && !s.has("lo")))
    return unsupportedStatement(s);
  if (!expectOperands(s, sources + 1, sources + 1))
    return;
  Regs in, out = {s.reg(0, type.element)};
  for (unsigned i = 1; i <= sources; ++i)
    in.push_back(s.reg(i, type.element));
  Reg carry = s.decoder.carryFlag();
  if (flags.carryIn)
    in.push_back(carry);
  else
    in.push_back(s.decoder.constant(Kind::I1, 0));
  if (flags.carryOut)
    out.push_back(carry);
  s.decoder.emitWide(carryHandler(type.bits), out, in, encodeCarry(flags));
}

/// Modifiers that change nothing here, or that parseFloatFlags knows.
bool isFloatModifier(llvm::StringRef word) {
  static constexpr llvm::StringRef known[] = {"rn",   "rz",  "rm",  "rp",      "ftz",    "sat",
                                              "relu", "NaN", "abs", "xorsign", "approx", "full"};
  return llvm::is_contained(known, word);
}

void floatStatement(AsmStatement &s, const PtxType &type) {
  llvm::ArrayRef<llvm::StringRef> modifiers = llvm::ArrayRef(s.words).drop_front().drop_back();
  for (llvm::StringRef word : modifiers)
    if (!isFloatModifier(word))
      return unsupportedStatement(s);
  llvm::StringRef name = s.words[0] == "mad" ? llvm::StringRef("fma") : s.words[0];
  FloatFlags flags = parseFloatFlags(modifiers);
  Regs sources;
  for (unsigned i = 1; i < s.operands.size(); ++i)
    sources.push_back(s.reg(i, type.container()));
  Reg d = s.reg(0, type.container());
  if (!s.decoder.failed() && !emitFloat(s.decoder, name, type, flags, d, sources))
    unsupportedStatement(s);
}

void arithmeticStatement(AsmStatement &s) {
  std::optional<PtxType> type = parsePtxType(s.words.back());
  if (type && type->isFloat() && s.words.size() > 1)
    return floatStatement(s, *type);
  if (type && (s.has("cc") || s.words[0] == "addc" || s.words[0] == "subc" || s.words[0] == "madc"))
    return carryStatement(s, *type);
  const IntegerOperation *row = findIntegerOperation(std::string_view(s.mnemonic));
  if (!row)
    return unsupportedStatement(s);
  integerStatement(s, *row);
}

// --- Comparisons and selections ------------------------------------------------------------------------------------

struct Comparison {
  llvm::StringRef name;
  int unsignedTest, signedTest; ///< IntegerTest, or -1.
  int floatTest;                ///< As FCMP numbers; see floatTestHandler.
};
constexpr int test(IntegerTest t) { return static_cast<int>(t); }
constexpr Comparison comparisons[] = {
    {"eq", test(IntegerTest::Eq), test(IntegerTest::Eq), 1},
    {"ne", test(IntegerTest::Ne), test(IntegerTest::Ne), 6},
    {"lt", test(IntegerTest::ULt), test(IntegerTest::SLt), 4},
    {"le", test(IntegerTest::ULe), test(IntegerTest::SLe), 5},
    {"gt", test(IntegerTest::UGt), test(IntegerTest::SGt), 2},
    {"ge", test(IntegerTest::UGe), test(IntegerTest::SGe), 3},
    {"lo", test(IntegerTest::ULt), -1, -1},
    {"ls", test(IntegerTest::ULe), -1, -1},
    {"hi", test(IntegerTest::UGt), -1, -1},
    {"hs", test(IntegerTest::UGe), -1, -1},
    {"equ", -1, -1, 9},
    {"neu", -1, -1, 14},
    {"ltu", -1, -1, 12},
    {"leu", -1, -1, 13},
    {"gtu", -1, -1, 10},
    {"geu", -1, -1, 11},
    {"num", -1, -1, 7},
    {"nan", -1, -1, 8},
};

/// d (I1) = a test b of one number each. Null handler: no such comparison.
Handler comparisonHandler(const Comparison &row, const PtxType &type) {
  if (type.isFloat())
    return row.floatTest < 0 ? nullptr : floatTestHandler(static_cast<unsigned>(row.floatTest), type.element, 32);
  int chosen = type.kind == PtxType::Class::Signed ? row.signedTest : row.unsignedTest;
  return chosen < 0 ? nullptr : integerTestHandler(static_cast<IntegerTest>(chosen), type.element, 32);
}

struct Compare {
  AsmStatement &s;
  const Comparison &row;
  const PtxType type;
  llvm::StringRef combine; ///< "and", "or", "xor" with a predicate, or empty.
  unsigned first;          ///< Operand number of a; b and the predicate follow.

  /// Predicates of one number, or of both of a pair.
  Regs emit() const {
    Decoder &d = s.decoder;
    Handler handler = comparisonHandler(row, type);
    if (!handler) {
      unsupportedStatement(s);
      return {};
    }
    Regs as = numbers(first), bs = numbers(first + 1), results;
    for (size_t i = 0; i < as.size(); ++i) {
      Reg result = d.newReg(Kind::I1);
      d.emit(handler, result, {as[i], bs[i]});
      results.push_back(result);
    }
    return results;
  }
  /// `value`, or its complement, combined with the predicate operand.
  void finish(Reg to, Reg value, bool complement) const {
    Decoder &d = s.decoder;
    Reg result = combine.empty() && !complement ? to : d.newReg(Kind::I1);
    if (complement) {
      Reg inverse = combine.empty() ? to : d.newReg(Kind::I1);
      d.emit(integerHandler(IntegerOp::Xor, Kind::I1, 32), inverse, {value, d.constant(Kind::I1, 1)});
      value = inverse;
    } else if (combine.empty()) {
      d.copy(result, value);
    }
    if (combine.empty())
      return;
    IntegerOp op = combine == "and" ? IntegerOp::And : combine == "or" ? IntegerOp::Or : IntegerOp::Xor;
    d.emit(integerHandler(op, Kind::I1, 32), to, {value, s.reg(first + 2, Kind::I1)});
  }

private:
  Regs numbers(unsigned operand) const {
    Reg all = s.reg(operand, type.container());
    Regs parts = {all};
    if (type.pair) {
      auto [low, high] = splitPair(s.decoder, all, type.element);
      parts = {low, high};
    }
    FloatFlags flush;
    flush.flush = true;
    if (type.isFloat() && s.has("ftz"))
      for (Reg &part : parts) {
        Reg flushed = s.decoder.newReg(type.element);
        PtxType one = type;
        one.pair = false;
        emitFloat(s.decoder, "rint", one, flush, flushed, {part});
        part = flushed;
      }
    return parts;
  }
};

const Comparison *findComparison(llvm::StringRef name) {
  const auto *found = llvm::find_if(comparisons, [&](const Comparison &row) { return row.name == name; });
  return found == std::end(comparisons) ? nullptr : found;
}

llvm::StringRef combineWord(const AsmStatement &s) {
  for (llvm::StringRef word : {"and", "or", "xor"})
    if (s.has(word))
      return word;
  return "";
}

/// setp.CMP{.BOOL}{.ftz}.type p{|q}, a, b{, {!}c}
void setPredicateStatement(AsmStatement &s) {
  const Comparison *row = s.words.size() > 2 ? findComparison(s.words[1]) : nullptr;
  std::optional<PtxType> type = parsePtxType(s.words.back());
  if (!row || !type)
    return unsupportedStatement(s);
  llvm::StringRef combine = combineWord(s);
  if (!expectOperands(s, combine.empty() ? 3 : 4, combine.empty() ? 3 : 4))
    return;
  Compare compare{s, *row, *type, combine, 1};
  Regs values = compare.emit();
  if (values.empty())
    return;
  const AsmOperand &target = s.operands[0];
  if (target.form != AsmOperand::Form::Group)
    return compare.finish(s.reg(0, Kind::I1), values[0], false);
  if (target.parts.size() != 2)
    return unsupportedStatement(s);
  // The second one is the complement, or the comparison of the upper halves.
  for (unsigned i = 0; i < 2; ++i)
    compare.finish(s.decoder.asmRegister(target.parts[i], Kind::I1, s.text), values[type->pair ? i : 0],
                   i == 1 && !type->pair);
}

/// set.CMP{.BOOL}{.ftz}.dtype.stype d, a, b{, {!}c}: all ones, or 1.0, where it holds.
void setStatement(AsmStatement &s) {
  if (s.words.size() < 4)
    return unsupportedStatement(s);
  const Comparison *row = findComparison(s.words[1]);
  std::optional<PtxType> type = parsePtxType(s.words.back()), to = parsePtxType(s.words[s.words.size() - 2]);
  if (!row || !type || !to)
    return unsupportedStatement(s);
  llvm::StringRef combine = combineWord(s);
  if (!expectOperands(s, combine.empty() ? 3 : 4, combine.empty() ? 3 : 4))
    return;
  Decoder &d = s.decoder;
  Compare compare{s, *row, *type, combine, 1};
  Regs values = compare.emit();
  // A pair may also be compared into 32 bits of integer ones: each half is all ones or zeros.
  Kind part = type->pair ? (to->isFloat() ? to->element : Kind::I16) : to->element;
  uint64_t yes = !to->isFloat() ? ~0ull : part == Kind::F16 ? 0x3c00 : part == Kind::BF16 ? 0x3f80 : 0x3f800000;
  Regs results;
  for (Reg value : values) {
    Reg held = d.newReg(Kind::I1), result = d.newReg(part);
    compare.finish(held, value, false);
    d.emit(selectHandler(part, 32), result, {held, d.constant(part, yes), d.constant(part, 0)});
    results.push_back(result);
  }
  if (results.size() == 2)
    joinPair(d, s.reg(0, Kind::I32), results[0], results[1]);
  else if (results.size() == 1)
    d.copy(s.reg(0, to->element), results[0]);
}

/// selp.type d, a, b, p
void selectStatement(AsmStatement &s) {
  std::optional<PtxType> type = parsePtxType(s.words.back());
  if (!type)
    return unsupportedStatement(s);
  if (!expectOperands(s, 4, 4))
    return;
  s.decoder.emit(selectHandler(type->container(), 32), s.reg(0, type->container()),
                 {s.reg(3, Kind::I1), s.reg(1, type->container()), s.reg(2, type->container())});
}

/// slct.dtype.{s32,f32} d, a, b, c: a where c >= 0.
void selectBySignStatement(AsmStatement &s) {
  std::optional<PtxType> type = s.words.size() > 2 ? parsePtxType(s.words[s.words.size() - 2]) : std::nullopt;
  std::optional<PtxType> by = parsePtxType(s.words.back());
  if (!type || !by || by->bits != 32)
    return unsupportedStatement(s);
  if (!expectOperands(s, 4, 4))
    return;
  Decoder &d = s.decoder;
  Reg holds = d.newReg(Kind::I1), c = s.reg(3, by->element);
  Handler test =
      by->isFloat() ? floatTestHandler(3, Kind::F32, 32) : integerTestHandler(IntegerTest::SGe, Kind::I32, 32);
  d.emit(test, holds, {c, d.constant(by->element, 0)});
  d.emit(selectHandler(type->element, 32), s.reg(0, type->element),
         {holds, s.reg(1, type->element), s.reg(2, type->element)});
}

// --- Moves ---------------------------------------------------------------------------------------------------------

/// Registers of an operand that is one, or several in braces.
Regs partsOf(AsmStatement &s, const AsmOperand &operand, Kind whole, unsigned bits) {
  Regs parts;
  if (operand.form != AsmOperand::Form::Group) {
    parts.push_back(s.decoder.asmRegister(operand, whole, s.text));
    return parts;
  }
  auto each = static_cast<unsigned>(bits / std::max<size_t>(operand.parts.size(), 1));
  Kind kind = each == 8 ? Kind::I8 : each == 16 ? Kind::I16 : each == 32 ? Kind::I32 : Kind::I64;
  for (const AsmOperand &part : operand.parts)
    parts.push_back(s.decoder.asmRegister(part, kind, s.text));
  return parts;
}

/// mov.type d, a; mov.b32 d, {a, b}; mov.b64 {a, b}, d.
void moveStatement(AsmStatement &s) {
  std::optional<PtxType> type = parsePtxType(s.words.back());
  if (!type || s.words.size() != 2)
    return unsupportedStatement(s);
  if (!expectOperands(s, 2, 2))
    return;
  Decoder &d = s.decoder;
  unsigned bits = type->pair ? 2 * type->bits : type->bits;
  Regs to = partsOf(s, s.operands[0], type->container(), bits),
       from = partsOf(s, s.operands[1], type->container(), bits);
  if (d.failed())
    return;
  if (to.size() == from.size()) {
    // Element by element, through copies in case they overlap.
    if (to.size() > 1)
      for (Reg &reg : from) {
        Reg saved = d.newReg(d.kindOfReg(reg));
        d.copy(saved, reg);
        reg = saved;
      }
    for (size_t i = 0; i < to.size(); ++i)
      d.copy(to[i], from[i]);
    return;
  }
  Op &op = d.emitWide(bitcastHandler(32), to, from);
  for (const Regs *side : {&from, &to})
    for (Reg reg : *side)
      d.operandsOf(op).numbers.push_back(8 * sizeOf(d.kindOfReg(reg)));
}

/// cvta{.to}.space.size d, a
void addressStatement(AsmStatement &s) {
  bool to = s.has("to");
  std::optional<PtxType> type = parsePtxType(s.words.back());
  if (!type || s.words.size() < 3)
    return unsupportedStatement(s);
  if (!expectOperands(s, 2, 2))
    return;
  llvm::StringRef space = s.words[to ? 2 : 1];
  auto window = static_cast<int64_t>(space.starts_with("shared")  ? sharedWindow
                                     : space.starts_with("local") ? localWindow
                                                                  : 0);
  Decoder &d = s.decoder;
  Reg from = d.widen(s.reg(1, type->element)), result = d.newReg(Kind::Pointer);
  if (window)
    d.emit(addressSpaceHandler(32), result, {from}, to ? -window : window);
  else
    result = from;
  Reg target = s.reg(0, type->element);
  if (type->bits == 64)
    d.copy(target, result);
  else
    d.emit(convertHandler(Kind::I32, Kind::I64, false, 32), target, {result});
}

uint8_t pointsTo(uint64_t address, Imm space) { return static_cast<int64_t>(spaceOf(address)) == space.value; }

/// isspacep.space p, a
void isSpaceStatement(AsmStatement &s) {
  if (s.words.size() != 2 || !expectOperands(s, 2, 2))
    return s.decoder.failed() ? void() : unsupportedStatement(s);
  Reg address =
      s.operands[1].form == AsmOperand::Form::Register ? s.decoder.widen(s.operands[1].reg) : s.reg(1, Kind::I64);
  emitIsSpace(s.decoder, s.words[1], s.reg(0, Kind::I1), address);
}

/// testp.CLASS.type p, a
template <class T, unsigned C> uint8_t isClass(T a) {
  int found = std::fpclassify(a);
  switch (C) {
  case 0:
    return std::isfinite(a);
  case 1:
    return std::isinf(a);
  case 2:
    return !std::isnan(a);
  case 3:
    return std::isnan(a);
  case 4:
    return found == FP_NORMAL;
  default:
    return found == FP_SUBNORMAL;
  }
}
void testStatement(AsmStatement &s) {
  struct Row {
    llvm::StringRef name;
    Handler f32, f64;
  };
  static const Row rows[] = {
      {"finite", warpOf<isClass<float, 0>>, warpOf<isClass<double, 0>>},
      {"infinite", warpOf<isClass<float, 1>>, warpOf<isClass<double, 1>>},
      {"number", warpOf<isClass<float, 2>>, warpOf<isClass<double, 2>>},
      {"notanumber", warpOf<isClass<float, 3>>, warpOf<isClass<double, 3>>},
      {"normal", warpOf<isClass<float, 4>>, warpOf<isClass<double, 4>>},
      {"subnormal", warpOf<isClass<float, 5>>, warpOf<isClass<double, 5>>},
  };
  std::optional<PtxType> type = parsePtxType(s.words.back());
  const auto *row = llvm::find_if(rows, [&](const Row &r) { return s.words.size() == 3 && r.name == s.words[1]; });
  if (row == std::end(rows) || !type || !type->isFloat() || type->bits < 32)
    return unsupportedStatement(s);
  if (expectOperands(s, 2, 2))
    s.decoder.emit(type->bits == 32 ? row->f32 : row->f64, s.reg(0, Kind::I1), {s.reg(1, type->element)});
}

/// copysign.type d, a, b: the magnitude of b with the sign of a.
void copySignStatement(AsmStatement &s) {
  std::optional<PtxType> type = parsePtxType(s.words.back());
  if (!type || !type->isFloat() || type->bits < 32)
    return unsupportedStatement(s);
  if (expectOperands(s, 3, 3))
    s.decoder.emit(type->bits == 32 ? warpOf<copySign<float>> : warpOf<copySign<double>>, s.reg(0, type->element),
                   {s.reg(2, type->element), s.reg(1, type->element)});
}

} // namespace

void emitIsSpace(Decoder &decoder, llvm::StringRef space, Reg d, Reg address) {
  if (space == "const" || space == "param" || space.starts_with("param::")) {
    // Constants and parameters lie in global memory here.
    decoder.copy(d, decoder.constant(Kind::I1, 0));
    return;
  }
  Space wanted = space.starts_with("shared") ? Space::Shared : space == "local" ? Space::Local : Space::Global;
  decoder.emit(warpOf<pointsTo>, d, {address}, static_cast<int64_t>(wanted));
}

void addPtxAssemblyRules(Rules &rules) {
  static constexpr llvm::StringRef arithmetic[] = {
      "add",  "addc", "sub",  "subc", "mul", "mul24", "mad",  "mad24", "madc",  "fma",  "div",  "rem",
      "abs",  "neg",  "min",  "max",  "sad", "and",   "or",   "xor",   "not",   "cnot", "shl",  "shr",
      "shf",  "lop3", "prmt", "bfe",  "bfi", "bfind", "brev", "popc",  "clz",   "dp4a", "dp2a", "szext",
      "bmsk", "fns",  "ex2",  "lg2",  "sin", "cos",   "tanh", "rcp",   "rsqrt", "sqrt"};
  for (llvm::StringRef word : arithmetic)
    rules.assembly(word, arithmeticStatement);
  rules.assembly("setp", setPredicateStatement);
  rules.assembly("set", setStatement);
  rules.assembly("selp", selectStatement);
  rules.assembly("slct", selectBySignStatement);
  rules.assembly("mov", moveStatement);
  rules.assembly("cvta", addressStatement);
  rules.assembly("isspacep", isSpaceStatement);
  rules.assembly("testp", testStatement);
  rules.assembly("copysign", copySignStatement);
  addPtxConversionRules(rules);
  addPtxMemoryRules(rules);
}

} // namespace tilejit::sim
