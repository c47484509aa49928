// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// llvm.nvvm intrinsics that compute: their names are taken apart into the words of the PTX statement that they stand
// for.

#include "core/Atomics.h"
#include "core/Handlers.h"
#include "core/Pointers.h"
#include "nvidia/Capability.h"
#include "nvidia/NvvmRules.h"
#include "nvidia/Ptx.h"
#include "nvidia/PtxRules.h"
#include "nvidia/Rules.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"

namespace tilejit::sim {

namespace {

using Words = llvm::SmallVector<llvm::StringRef, 8>;

/// The words behind "llvm.nvvm.".
Words wordsOf(const Call &call) {
  Words words;
  call.name.drop_front(llvm::StringRef("llvm.nvvm.").size()).split(words, '.');
  return words;
}

void unsupported(Call &call) { call.decoder.fail("unsupported intrinsic '" + call.name + "'"); }

/// The float type that a call works on: by its arguments; old forms carry bf16 in integers.
PtxType floatTypeOf(const Call &call, const Words &words) {
  PtxType type{PtxType::Class::Float, call.kind(0), 8 * sizeOf(call.kind(0)), false};
  llvm::StringRef last = words.back();
  if (type.element == Kind::I16 || type.element == Kind::I32) {
    type.pair = type.element == Kind::I32;
    type.element = last.starts_with("bf16") ? Kind::BF16 : Kind::F16;
    type.bits = 16;
  }
  return type;
}

/// Name in the table of operations for the first word of an intrinsic.
llvm::StringRef operationOf(llvm::StringRef word) {
  return llvm::StringSwitch<llvm::StringRef>(word)
      .Case("fmin", "min")
      .Case("fmax", "max")
      .Case("fabs", "abs")
      .Case("round", "rint") // cvt.rni
      .Default(word);
}

void floatIntrinsic(Call &call) {
  Words words = wordsOf(call);
  PtxType type = floatTypeOf(call, words);
  FloatFlags flags = parseFloatFlags(llvm::ArrayRef(words).drop_front());
  llvm::StringRef name = operationOf(words[0]);
  const Regs results = call.results();
  for (size_t i = 0; i < results.size(); ++i) {
    Regs sources;
    for (unsigned a = 0; a < call.size(); ++a)
      sources.push_back(call.regs(a)[i]);
    if (!emitFloat(call.decoder, name, type, flags, results[i], sources))
      return unsupported(call);
  }
}

// --- Integers ------------------------------------------------------------------------------------------------------

/// Intrinsics that are one row of the integer table. `order`: which argument is which source; "" is their own order.
struct IntegerRow {
  llvm::StringRef intrinsic, operation, order;
};
constexpr IntegerRow integerRows[] = {
    {"mulhi.s", "mul.hi.s16", ""},
    {"mulhi.us", "mul.hi.u16", ""},
    {"mulhi.i", "mul.hi.s32", ""},
    {"mulhi.ui", "mul.hi.u32", ""},
    {"mulhi.ll", "mul.hi.s64", ""},
    {"mulhi.ull", "mul.hi.u64", ""},
    {"mul24.i", "mul24.lo.s32", ""},
    {"mul24.ui", "mul24.lo.u32", ""},
    {"sad.s", "sad.s16", ""},
    {"sad.us", "sad.u16", ""},
    {"sad.i", "sad.s32", ""},
    {"sad.ui", "sad.u32", ""},
    {"sad.ll", "sad.s64", ""},
    {"sad.ull", "sad.u64", ""},
    {"prmt", "prmt.b32", ""},
    {"prmt.f4e", "prmt.b32.f4e", ""},
    {"prmt.b4e", "prmt.b32.b4e", ""},
    {"prmt.rc8", "prmt.b32.rc8", "001"},
    {"prmt.ecl", "prmt.b32.ecl", "001"},
    {"prmt.ecr", "prmt.b32.ecr", "001"},
    {"prmt.rc16", "prmt.b32.rc16", "001"},
    {"fshl.clamp.i32", "shf.l.clamp.b32", "102"},
    {"fshr.clamp.i32", "shf.r.clamp.b32", "102"},
    {"idp4a.s.s", "dp4a.s32.s32", ""},
    {"idp4a.s.u", "dp4a.s32.u32", ""},
    {"idp4a.u.s", "dp4a.u32.s32", ""},
    {"idp4a.u.u", "dp4a.u32.u32", ""},
    {"bmsk.clamp", "bmsk.clamp.b32", ""},
    {"bmsk.wrap", "bmsk.wrap.b32", ""},
    {"sext.clamp", "szext.clamp.s32", ""},
    {"sext.wrap", "szext.wrap.s32", ""},
    {"zext.clamp", "szext.clamp.u32", ""},
    {"zext.wrap", "szext.wrap.u32", ""},
    {"fns", "fns.b32", ""},
};

void integerIntrinsic(Call &call) {
  llvm::StringRef name = call.name.drop_front(llvm::StringRef("llvm.nvvm.").size());
  const auto *row = llvm::find_if(integerRows, [&](const IntegerRow &r) { return r.intrinsic == name; });
  if (row == std::end(integerRows))
    return unsupported(call);
  Regs sources;
  if (row->order.empty())
    sources = call.allRegs();
  for (char argument : row->order)
    sources.push_back(call.reg(static_cast<unsigned>(argument - '0')));
  emitInteger(call.decoder, *findIntegerOperation(std::string_view(row->operation)), call.result(), sources);
}

/// idp2a.A.B(a, b, upper half, c)
void dot2Intrinsic(Call &call) {
  Words words = wordsOf(call);
  auto type = [](llvm::StringRef letter) { return letter == "s" ? ".s32" : ".u32"; };
  std::string name = std::string("dp2a.") + (call.constant(2) ? "hi" : "lo") + type(words[1]) + type(words[2]);
  emitInteger(call.decoder, *findIntegerOperation(name), call.result(), {call.reg(0), call.reg(1), call.reg(3)});
}

/// flo.{s,u}.i{32,64}(a, shift amount instead of the position)
void leadingBitIntrinsic(Call &call) {
  Words words = wordsOf(call);
  std::string name = std::string("bfind.") + (call.constant(1) ? "shiftamt." : "") + words[1].str() +
                     (sizeOf(call.kind(0)) == 8 ? "64" : "32");
  emitInteger(call.decoder, *findIntegerOperation(name), call.result(), {call.reg(0)});
}

// --- Conversions ---------------------------------------------------------------------------------------------------

llvm::StringRef numberOf(llvm::StringRef letters) {
  return llvm::StringSwitch<llvm::StringRef>(letters)
      .Case("d", "f64")
      .Case("f", "f32")
      .Case("h", "f16")
      .Case("bf", "bf16")
      .Case("i", "s32")
      .Case("ui", "u32")
      .Case("ll", "s64")
      .Case("ull", "u64")
      .Default(letters);
}

/// Reads the types and modifiers of "f2i.rz.ftz", "ff2bf16x2.rn", "ff.to.e4m3x2.rn.relu", "e4m3x2.to.f16x2.rn".
bool readNames(const Words &words, Conversion &c, bool &toPair, bool &fromPair) {
  llvm::StringRef from, to;
  size_t used = 1;
  if (words.size() > 2 && words[1] == "to") {
    from = words[0];
    to = words[2];
    used = 3;
  } else {
    std::tie(from, to) = words[0].split('2');
  }
  toPair = to.consume_back("x2");
  fromPair = from.consume_back("x2");
  if (from == "ff")
    from = "f";
  c.from = findNumberType(std::string_view(numberOf(from)));
  c.to = findNumberType(std::string_view(numberOf(to)));
  return c.from && c.to && readConversion(llvm::ArrayRef(words).drop_front(used), c).empty();
}

void conversionIntrinsic(Call &call) {
  Words words = wordsOf(call);
  Conversion c;
  bool toPair = false, fromPair = false;
  if (!readNames(words, c, toPair, fromPair))
    return unsupported(call);
  if (!conversionIsAvailable(call.decoder, c, call.name))
    return;
  Decoder &d = call.decoder;
  const Regs results = call.results();
  if (!toPair)
    return emitConversion(d, c, false, false, results[0], {call.reg(0)});
  Regs sources = call.allRegs();
  if (fromPair && sources.size() == 2) { // <2 x half>
    Reg joined = d.newReg(Kind::I32);
    joinPair(d, joined, sources[0], sources[1]);
    sources = {joined};
  }
  if (results.size() == 1)
    return emitConversion(d, c, true, fromPair, results[0], sources);
  Reg joined = d.newReg(Kind::I32);
  emitConversion(d, c, true, fromPair, joined, sources);
  Op &op = d.emitWide(bitcastHandler(32), results, {joined});
  d.operandsOf(op).numbers = {32, 16, 16};
}

uint32_t upperHalf(uint64_t a) { return static_cast<uint32_t>(a >> 32); }
uint32_t lowerHalf(uint64_t a) { return static_cast<uint32_t>(a); }
uint64_t joinHalves(uint32_t low, uint32_t high) { return uint64_t(high) << 32 | low; }

// --- Memory --------------------------------------------------------------------------------------------------------

/// ldu.global, ldg.global: (pointer, alignment)
void loadIntrinsic(Call &call) {
  Decoder &d = call.decoder;
  const Regs results = call.results();
  Leaves leaves = d.leaves(call.call.getType());
  unsigned space = call.call.getArgOperand(0)->getType()->getPointerAddressSpace();
  Reg address = call.reg(0);
  Op &op = d.emitWide(loadHandler(d.width()), results, {}, space);
  op.a = address;
  op.registers |= Op::HasA;
  OpOperands &x = d.operandsOf(op);
  auto bytes = static_cast<int64_t>(d.layout().getTypeStoreSize(call.call.getType()).getFixedValue());
  x.numbers = {bytes, call.size() > 1 ? call.constant(1) : bytes};
  for (const Leaf &leaf : leaves) {
    x.offsets.push_back(leaf.offset);
    x.numbers.push_back((leaf.bits + 7) / 8);
  }
}

/// atomic.OP.gen.{i,f}.{cta,sys}(pointer, value{, new value}): what older code uses for scopes other than the device.
void atomicIntrinsic(Call &call) {
  Words words = wordsOf(call);
  std::optional<AtomicOp> operation = atomicOperation(words[1], words[3] == "f", true);
  if (!operation)
    return unsupported(call);
  AtomicSpec spec;
  spec.op = *operation;
  spec.kind = call.kind(1);
  bool block = llvm::is_contained(words, "cta");
  spec.scope = block ? AtomicScope::Block : AtomicScope::System;
  unsigned space = call.call.getArgOperand(0)->getType()->getPointerAddressSpace();
  spec.space = space == sharedSpace   ? AtomicSpace::Shared
               : space == globalSpace ? AtomicSpace::Global
                                      : AtomicSpace::Generic;
  std::vector<Reg> operands = {call.reg(1)};
  if (spec.op == AtomicOp::CompareExchange)
    operands.push_back(call.reg(2));
  std::vector<Reg> old = emitAtomic(call.decoder, spec, call.reg(0), operands);
  call.decoder.define(&call.call, {old[0]});
}

void moveIntrinsic(Call &call) {
  const Regs results = call.results(), sources = call.regs(0);
  for (size_t i = 0; i < results.size(); ++i)
    call.decoder.copy(results[i], sources[i]);
}

void isSpaceIntrinsic(Call &call) { emitIsSpace(call.decoder, wordsOf(call)[1], call.result(), call.reg(0)); }

} // namespace

void addNvidiaMathRules(Rules &rules) {
  auto name = [](llvm::StringRef word) { return ("llvm.nvvm." + word).str(); };
  for (llvm::StringRef word :
       {"add.r", "mul.r", "fma.",  "div.", "rcp.", "rsqrt.", "sqrt.",  "ex2.",   "lg2.",   "sin.",     "cos.",
        "tanh.", "fmin.", "fmax.", "fabs", "neg.", "ceil.",  "floor.", "round.", "trunc.", "saturate."})
    rules.callPrefix(name(word), floatIntrinsic);
  for (const IntegerRow &row : integerRows)
    rules.call(name(row.intrinsic), integerIntrinsic);
  rules.callPrefix("llvm.nvvm.idp2a.", dot2Intrinsic);
  rules.callPrefix("llvm.nvvm.flo.", leadingBitIntrinsic);
  for (llvm::StringRef word :
       {"d2f.",       "d2i.",       "d2ll.",     "d2ui.",      "d2ull.",     "f2i.",       "f2ll.",
        "f2ui.",      "f2ull.",     "f2h.",      "f2bf16.",    "f2f16.",     "f2tf32.",    "bf2h.",
        "i2d.",       "i2f.",       "ui2d.",     "ui2f.",      "ll2d.",      "ll2f.",      "ull2d.",
        "ull2f.",     "ff2bf16x2.", "ff2f16x2.", "ff.to.",     "e4m3x2.to.", "e5m2x2.to.", "e2m1x2.to.",
        "e2m3x2.to.", "e3m2x2.to.", "f16x2.to.", "bf16x2.to.", "ue8m0x2.to."})
    rules.callPrefix(name(word), conversionIntrinsic);
  rules.call("llvm.nvvm.d2i.hi",
             [](Call &call) { call.decoder.emit(warpOf<upperHalf>, call.result(), {call.reg(0)}); });
  rules.call("llvm.nvvm.d2i.lo",
             [](Call &call) { call.decoder.emit(warpOf<lowerHalf>, call.result(), {call.reg(0)}); });
  rules.call("llvm.nvvm.lohi.i2d",
             [](Call &call) { call.decoder.emit(warpOf<joinHalves>, call.result(), {call.reg(0), call.reg(1)}); });
  rules.callPrefix("llvm.nvvm.ldu.global.", loadIntrinsic);
  rules.callPrefix("llvm.nvvm.ldg.global.", loadIntrinsic);
  rules.callPrefix("llvm.nvvm.atomic.", atomicIntrinsic);
  rules.callPrefix("llvm.nvvm.move.", moveIntrinsic);
  rules.callPrefix("llvm.nvvm.internal.addrspace.wrap", moveIntrinsic);
  rules.callPrefix("llvm.nvvm.isspacep.", isSpaceIntrinsic);
  for (llvm::StringRef word : {"prefetch.", "prefetchu.", "applypriority.", "discard."})
    rules.callPrefix(name(word), [](Call &) {});
}

} // namespace tilejit::sim
