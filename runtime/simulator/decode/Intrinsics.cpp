// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// LLVM's intrinsics on floats, vector reductions, and those that ask or promise something and compute nothing.

#include "decode/Intrinsics.h"

#include "core/Block.h"
#include "core/Handlers.h"
#include "core/MathTable.h"
#include "decode/CommonRules.h"
#include "decode/LibraryNames.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"

namespace tilejit::sim {

void emitLanes(Decoder &decoder, const HandlerPair &handlers, Reg d, llvm::ArrayRef<Reg> sources, int64_t imm) {
  Op &op = decoder.emit(decoder.pick(handlers.narrow, handlers.wide), d, {}, imm);
  uint32_t *slots[] = {&op.a, &op.b, &op.c};
  for (size_t i = 0; i < sources.size(); ++i) {
    *slots[i] = sources[i];
    op.registers |= static_cast<uint8_t>(Op::HasA << i);
  }
}

void unsupportedCall(Call &call) { call.decoder.fail("unsupported intrinsic '" + call.name + "'"); }

llvm::StringRef intrinsicBase(llvm::StringRef name) {
  name.consume_front("llvm.");
  return name.take_until([](char c) { return c == '.'; });
}

bool emitMath(Call &call, llvm::StringRef function, unsigned first) {
  const MathFunction *row = findMath(std::string_view(function));
  HandlerPair handlers = row ? row->of(call.kind(first)) : HandlerPair();
  if (!handlers || first + row->operands > call.size())
    return false;
  const Regs results = call.results();
  for (size_t i = 0; i < results.size(); ++i) {
    Regs sources;
    for (unsigned a = 0; a < row->operands; ++a)
      sources.push_back(call.regs(first + a)[i]);
    emitLanes(call.decoder, handlers, results[i], sources);
  }
  return true;
}

namespace {

void mathIntrinsic(Call &call) {
  if (!emitMath(call, intrinsicBase(call.name)))
    unsupportedCall(call);
}

// --- Functions with other operands ---------------------------------------------------------------------------------

using KindHandlers = HandlerPair (*)(Kind);

/// ldexp and powi: a number and an integer for each, or one for all.
void byInteger(Call &call, KindHandlers handlers) {
  Decoder &d = call.decoder;
  const Regs results = call.results(), numbers = call.regs(0), integers = call.regs(1);
  unsigned bits = call.call.getArgOperand(1)->getType()->getScalarSizeInBits();
  for (size_t i = 0; i < results.size(); ++i) {
    Reg by = integers[integers.size() == 1 ? 0 : i];
    if (bits != 32) {
      Reg extended = d.newReg(Kind::I32);
      d.emit(convertHandler(Kind::I32, d.kindOfReg(by), true, d.width()), extended, {by});
      by = extended;
    }
    emitLanes(d, handlers(call.kind(0)), results[i], {numbers[i], by});
  }
}

/// frexp: all mantissas, then all exponents.
void frexpIntrinsic(Call &call) {
  Decoder &d = call.decoder;
  const Regs results = call.results(), sources = call.regs(0);
  for (size_t i = 0; i < sources.size(); ++i) {
    Reg exponent = results[sources.size() + i];
    emitLanes(d, frexpHandlers(call.kind(0), false), results[i], {sources[i]});
    Reg wide = sizeOf(d.kindOfReg(exponent)) == 4 ? exponent : d.newReg(Kind::I32);
    emitLanes(d, frexpHandlers(call.kind(0), true), wide, {sources[i]});
    if (wide != exponent)
      d.emit(convertHandler(d.kindOfReg(exponent), Kind::I32, true, d.width()), exponent, {wide});
  }
}

/// modf, sincos: two results of the same type.
void twoResults(Call &call, KindHandlers first, llvm::StringRef second, llvm::StringRef firstName) {
  Decoder &d = call.decoder;
  const Regs results = call.results(), sources = call.regs(0);
  for (size_t i = 0; i < sources.size(); ++i) {
    HandlerPair one = first ? first(call.kind(0)) : findMath(std::string_view(firstName))->of(call.kind(0));
    emitLanes(d, one, results[i], {sources[i]});
    emitLanes(d, findMath(std::string_view(second))->of(call.kind(0)), results[sources.size() + i], {sources[i]});
  }
}

void classIntrinsic(Call &call) {
  const Regs results = call.results(), sources = call.regs(0);
  for (size_t i = 0; i < results.size(); ++i)
    emitLanes(call.decoder, classHandlersOf(call.kind(0)), results[i], {sources[i]}, call.constant(1));
}

// --- Reductions ----------------------------------------------------------------------------------------------------

Handler reductionHandler(llvm::StringRef name, Kind kind, unsigned width) {
  std::optional<IntegerOp> integer = llvm::StringSwitch<std::optional<IntegerOp>>(name)
                                         .Case("add", IntegerOp::Add)
                                         .Case("mul", IntegerOp::Mul)
                                         .Case("and", IntegerOp::And)
                                         .Case("or", IntegerOp::Or)
                                         .Case("xor", IntegerOp::Xor)
                                         .Case("smax", IntegerOp::SMax)
                                         .Case("smin", IntegerOp::SMin)
                                         .Case("umax", IntegerOp::UMax)
                                         .Case("umin", IntegerOp::UMin)
                                         .Default(std::nullopt);
  if (integer)
    return integerHandler(*integer, kind, width);
  const MathFunction *row = findMath(llvm::StringSwitch<std::string_view>(name)
                                         .Case("fadd", "add")
                                         .Case("fmul", "mul")
                                         .Case("fmax", "maxnum")
                                         .Case("fmin", "minnum")
                                         .Case("fmaximum", "maximum")
                                         .Case("fminimum", "minimum")
                                         .Default(""));
  HandlerPair handlers = row ? row->of(kind) : HandlerPair();
  return width == 64 ? handlers.wide : handlers.narrow;
}

/// llvm.vector.reduce.*: from the first element to the last; fadd and fmul begin with a start value.
void reduceIntrinsic(Call &call) {
  Decoder &d = call.decoder;
  llvm::SmallVector<llvm::StringRef, 6> words;
  call.name.split(words, '.');
  llvm::StringRef name = words[3];
  unsigned vector = call.size() - 1;
  Kind kind = call.kind(vector);
  Handler handler = reductionHandler(name, kind, d.width());
  if (!handler)
    return unsupportedCall(call);
  Regs elements = call.regs(vector);
  unsigned bits = call.call.getType()->getScalarSizeInBits();
  bool odd = call.call.getType()->isIntegerTy() && bits != 8 * sizeOf(kind);
  if (odd && (name == "smax" || name == "smin"))
    for (Reg &element : elements) {
      Reg extended = d.newReg(kind);
      d.emit(signExtendHandler(kind, d.width()), extended, {element}, bits);
      element = extended;
    }
  if (vector == 1)
    elements.insert(elements.begin(), call.reg(0));
  Reg sum = elements[0];
  for (size_t i = 1; i < elements.size(); ++i) {
    Reg next = d.newReg(kind);
    d.emit(handler, next, {sum, elements[i]});
    sum = next;
  }
  if (odd)
    d.emit(maskHandler(kind, d.width()), call.result(), {sum}, bits);
  else
    d.copy(call.result(), sum);
}

// --- Elements of vectors, pointers ---------------------------------------------------------------------------------

/// Results are scalars of the arguments in another order: no code.
void choose(Call &call, llvm::function_ref<Regs(const Regs &)> order) {
  call.decoder.define(&call.call, order(call.allRegs()));
}

void extractIntrinsic(Call &call) {
  size_t count = call.decoder.leaves(call.call.getType()).size(), at = static_cast<size_t>(call.constant(1));
  const Regs all = call.regs(0);
  if (at + count > all.size())
    return unsupportedCall(call);
  call.decoder.define(&call.call, Regs(all.begin() + at, all.begin() + at + count));
}

void insertIntrinsic(Call &call) {
  Regs all = call.regs(0);
  const Regs part = call.regs(1);
  auto at = static_cast<size_t>(call.constant(2));
  if (at + part.size() > all.size())
    return unsupportedCall(call);
  std::copy(part.begin(), part.end(), all.begin() + at);
  call.decoder.define(&call.call, all);
}

Regs reversed(const Regs &all) { return Regs(all.rbegin(), all.rend()); }
Regs interleaved(const Regs &all) {
  Regs result;
  for (size_t i = 0; i < all.size() / 2; ++i)
    result.append({all[i], all[all.size() / 2 + i]});
  return result;
}
/// The even elements, then the odd ones.
Regs deinterleaved(const Regs &all) {
  Regs result;
  for (size_t first : {0, 1})
    for (size_t i = first; i < all.size(); i += 2)
      result.push_back(all[i]);
  return result;
}

void maskPointer(Call &call) {
  Decoder &d = call.decoder;
  const Regs results = call.results(), pointers = call.regs(0), masks = call.regs(1);
  unsigned bits = call.call.getArgOperand(1)->getType()->getScalarSizeInBits();
  for (size_t i = 0; i < results.size(); ++i) {
    Reg mask = d.newReg(Kind::I64);
    // Bits above those of a short pointer stay.
    d.emit(convertHandler(Kind::I64, d.kindOfReg(masks[i]), bits < 64, d.width()), mask, {masks[i]});
    d.emit(integerHandler(IntegerOp::And, Kind::I64, d.width()), results[i], {pointers[i], mask});
  }
}

/// lrint, lround and their long forms: to an integral number, then to an integer.
void roundToInteger(Call &call, llvm::StringRef function) {
  Decoder &d = call.decoder;
  const Regs results = call.results(), sources = call.regs(0);
  for (size_t i = 0; i < results.size(); ++i) {
    Reg whole = d.newReg(call.kind(0));
    emitLanes(d, findMath(std::string_view(function))->of(call.kind(0)), whole, {sources[i]});
    d.emit(convertHandler(d.kindOfReg(results[i]), call.kind(0), true, d.width()), results[i], {whole});
  }
}

// --- Promises and questions ----------------------------------------------------------------------------------------

void nothing(Call &call) {
  if (!call.call.getType()->isVoidTy() && !call.call.getType()->isTokenTy())
    for (Reg reg : call.results())
      call.decoder.copy(reg, call.decoder.constant(call.decoder.kindOfReg(reg), 0));
}

/// The result is the first argument.
void identity(Call &call) { call.decoder.define(&call.call, call.regs(0)); }

void constantResult(Call &call, uint64_t value) {
  Reg result = call.result();
  call.decoder.copy(result, call.decoder.constant(call.decoder.kindOfReg(result), value));
}

template <unsigned W> void readCycles(Warp &warp, const Op &op) {
  // Counts instructions: never runs backwards, and gives the same numbers each time.
  uint64_t now = warp.block->options().instructionBudget - warp.budget;
  map<W>(warp.mask, warp.reg<uint64_t>(op.d), [=](unsigned) { return now; });
}

template <unsigned W> void trap(Warp &warp, const Op &op) {
  warp.block->report(ReportKind::Trap, op.site, warp, firstLane(warp.mask), "a trap was executed",
                     "a check of the kernel failed, or a place was reached that should not be");
  warp.block->trap(warp);
}

void cyclesIntrinsic(Call &call) {
  Op &op = call.decoder.emit(call.decoder.pick(readCycles<32>, readCycles<64>));
  op.d = call.result();
  op.registers |= Op::HasD;
}

void trapIntrinsic(Call &call) { call.decoder.emit(call.decoder.pick(trap<32>, trap<64>)); }

} // namespace

void addFloatIntrinsicRules(Rules &rules) {
  static constexpr llvm::StringRef functions[] = {
      "acos", "asin",    "atan",       "atan2",  "canonicalize", "ceil",       "copysign", "cos",       "cosh",
      "exp",  "exp10",   "exp2",       "fabs",   "floor",        "fma",        "fmuladd",  "log",       "log10",
      "log2", "maximum", "maximumnum", "maxnum", "minimum",      "minimumnum", "minnum",   "nearbyint", "pow",
      "rint", "round",   "roundeven",  "sin",    "sinh",         "sqrt",       "tan",      "tanh",      "trunc"};
  for (llvm::StringRef function : functions)
    rules.callPrefix(("llvm." + function + ".").str(), mathIntrinsic);
  rules.callPrefix("llvm.ldexp.", [](Call &call) { byInteger(call, scaleHandlersOf); });
  rules.callPrefix("llvm.powi.", [](Call &call) { byInteger(call, powerHandlersOf); });
  rules.callPrefix("llvm.frexp.", frexpIntrinsic);
  rules.callPrefix("llvm.modf.", [](Call &call) { twoResults(call, fractionHandlersOf, "trunc", ""); });
  rules.callPrefix("llvm.sincos.", [](Call &call) { twoResults(call, nullptr, "cos", "sin"); });
  rules.callPrefix("llvm.is.fpclass.", classIntrinsic);
  for (llvm::StringRef name : {"llvm.lrint.", "llvm.llrint."})
    rules.callPrefix(name, [](Call &call) { roundToInteger(call, "rint"); });
  for (llvm::StringRef name : {"llvm.lround.", "llvm.llround."})
    rules.callPrefix(name, [](Call &call) { roundToInteger(call, "round"); });
}

/// Vectors as wholes.
static void addVectorIntrinsicRules(Rules &rules) {
  rules.callPrefix("llvm.vector.reduce.", reduceIntrinsic);
  rules.callPrefix("llvm.vector.extract.", extractIntrinsic);
  rules.callPrefix("llvm.vector.insert.", insertIntrinsic);
  rules.callPrefix("llvm.vector.reverse.", [](Call &call) { choose(call, reversed); });
  rules.callPrefix("llvm.vector.interleave2.", [](Call &call) { choose(call, interleaved); });
  rules.callPrefix("llvm.vector.deinterleave2.", [](Call &call) { choose(call, deinterleaved); });
  rules.callPrefix("llvm.ptrmask.", maskPointer);
}

void addLlvmIntrinsicRules(Rules &rules) {
  addFloatIntrinsicRules(rules);
  addIntegerIntrinsicRules(rules);
  addMemoryIntrinsicRules(rules);
  addConstrainedIntrinsicRules(rules);
  addVectorIntrinsicRules(rules);
  for (llvm::StringRef name :
       {"llvm.assume", "llvm.donothing", "llvm.sideeffect", "llvm.var.annotation", "llvm.codeview.annotation",
        "llvm.pseudoprobe", "llvm.experimental.noalias.scope.decl", "llvm.fake.use", "llvm.instrprof.increment"})
    rules.call(name, nothing);
  for (llvm::StringRef prefix :
       {"llvm.dbg.", "llvm.lifetime.", "llvm.invariant.", "llvm.prefetch", "llvm.var.annotation.", "llvm.stackrestore",
        "llvm.stacksave", "llvm.assume", "llvm.experimental.convergence."})
    rules.callPrefix(prefix, nothing);
  for (llvm::StringRef prefix :
       {"llvm.expect.", "llvm.annotation.", "llvm.ptr.annotation.", "llvm.launder.invariant.group.",
        "llvm.strip.invariant.group.", "llvm.ssa.copy.", "llvm.arithmetic.fence.", "llvm.preserve."})
    rules.callPrefix(prefix, identity);
  rules.callPrefix("llvm.is.constant.", [](Call &call) { constantResult(call, 0); });
  // Unknown: all ones for the largest, zero for the smallest size.
  rules.callPrefix("llvm.objectsize.", [](Call &call) { constantResult(call, call.constant(1) ? 0 : ~0ull); });
  for (llvm::StringRef name : {"llvm.readcyclecounter", "llvm.readsteadycounter"})
    rules.call(name, cyclesIntrinsic);
  for (llvm::StringRef name : {"llvm.trap", "llvm.debugtrap", "llvm.ubsantrap"})
    rules.call(name, trapIntrinsic);
}

} // namespace tilejit::sim
