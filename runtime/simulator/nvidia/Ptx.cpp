// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Types and modifiers of PTX mnemonics, and operations from the tables.

#include "nvidia/Ptx.h"

#include "core/Handlers.h"

namespace tilejit::sim {

std::optional<PtxType> parsePtxType(llvm::StringRef word) {
  using Class = PtxType::Class;
  if (word == "pred")
    return PtxType{Class::Predicate, Kind::I1, 1, false};
  bool pair = word.consume_back("x2");
  if (word == "bf16")
    return PtxType{Class::Float, Kind::BF16, 16, pair};
  if (word.empty())
    return std::nullopt;
  char letter = word[0];
  unsigned bits = 0;
  if (word.drop_front().getAsInteger(10, bits) || (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128))
    return std::nullopt;
  if (letter == 'f') {
    if (bits == 8 || bits == 128)
      return std::nullopt;
    return PtxType{Class::Float, bits == 16 ? Kind::F16 : bits == 32 ? Kind::F32 : Kind::F64, bits, pair};
  }
  if (letter != 'b' && letter != 'u' && letter != 's')
    return std::nullopt;
  Kind kind = bits == 8 ? Kind::I8 : bits == 16 ? Kind::I16 : bits == 32 ? Kind::I32 : Kind::I64;
  return PtxType{letter == 'b' ? Class::Bits : letter == 'u' ? Class::Unsigned : Class::Signed, kind, bits, pair};
}

std::optional<Rounding> parseRounding(llvm::StringRef word) {
  if (word == "rn" || word == "rni")
    return Rounding::Nearest;
  if (word == "rz" || word == "rzi")
    return Rounding::Zero;
  if (word == "rm" || word == "rmi")
    return Rounding::Down;
  if (word == "rp" || word == "rpi")
    return Rounding::Up;
  if (word == "rna")
    return Rounding::Away;
  return std::nullopt;
}

FloatFlags parseFloatFlags(llvm::ArrayRef<llvm::StringRef> words) {
  FloatFlags flags;
  for (llvm::StringRef word : words) {
    if (std::optional<Rounding> rounding = parseRounding(word))
      flags.rounding = *rounding;
    flags.flush |= word == "ftz";
    flags.saturate |= word == "sat";
    flags.relu |= word == "relu";
    flags.nan |= word == "NaN" || word == "nan";
    flags.xorSign |= word == "xorsign";
  }
  return flags;
}

bool expectOperands(const AsmStatement &s, size_t least, size_t most) {
  if (s.operands.size() >= least && s.operands.size() <= most)
    return true;
  s.decoder.fail("malformed assembly: '" + s.text + "' has " + llvm::Twine(s.operands.size()) +
                 " operands, it must have " + llvm::Twine(least) +
                 (most > least ? " to " + llvm::Twine(most) : llvm::Twine("")));
  return false;
}

void unsupportedStatement(const AsmStatement &s) { s.decoder.fail("unsupported assembly '" + s.text + "'"); }

void emitInteger(Decoder &decoder, const IntegerOperation &row, Reg d, llvm::ArrayRef<Reg> sources, int64_t number) {
  if (sources.size() > 3) {
    decoder.emitWide(row.handler, {d}, sources, number);
    return;
  }
  Op &op = decoder.emit(row.handler, d, {}, number);
  uint32_t *slots[] = {&op.a, &op.b, &op.c};
  for (size_t i = 0; i < sources.size(); ++i) {
    *slots[i] = sources[i];
    op.registers |= static_cast<uint8_t>(Op::HasA << i);
  }
}

bool emitFloat(Decoder &decoder, llvm::StringRef name, const PtxType &type, const FloatFlags &flags, Reg d,
               llvm::ArrayRef<Reg> sources) {
  FloatHandlers found = floatOperation(name, type.element, type.pair, flags);
  if (!found.handler || found.operands != sources.size())
    return false;
  emitInteger(decoder, {"", "", found.handler}, d, sources, flags.encode());
  return true;
}

std::pair<Reg, Reg> splitPair(Decoder &decoder, Reg pair, Kind half) {
  Reg low = decoder.newReg(half), high = decoder.newReg(half);
  Op &op = decoder.emitWide(bitcastHandler(decoder.width()), {low, high}, {pair});
  decoder.operandsOf(op).numbers = {32, 16, 16};
  return {low, high};
}

void joinPair(Decoder &decoder, Reg to, Reg low, Reg high) {
  Op &op = decoder.emitWide(bitcastHandler(decoder.width()), {to}, {low, high});
  decoder.operandsOf(op).numbers = {16, 16, 32};
}

} // namespace tilejit::sim
