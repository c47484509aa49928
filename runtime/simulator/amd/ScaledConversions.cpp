// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions of CDNA 4 between floats and scaled 8-, 6- and 4-bit floats: cvt.scalef32.*. A scale is a float of which
// only the exponent counts; numbers are divided by it on the way to a small format and multiplied by it on the way
// back.

#include "amd/Elements.h"
#include "amd/Rules.h"
#include "amd/SmallRounding.h"
#include "amd/State.h"
#include "core/Block.h"

#include <cmath>
#include <cstring>

namespace tilejit::sim {

namespace {

/// Numbers of a conversion, in OpOperands::numbers.
enum ScaleNumber : unsigned {
  ScaleCount, ///< Elements.
  ScaleFrom,  ///< Element types.
  ScaleTo,
  ScaleFirst,    ///< Index of the first source register,
  ScaleOld,      ///< of the old value of the result, or -1,
  ScaleSeed,     ///< of the random bits, or -1,
  ScaleRegister, ///< and of the scale.
  ScaleReadBit,  ///< First bit of the source's and of the result's registers.
  ScaleWriteBit,
  ScaleNumbers
};

bool isSmall(Element element) { return bitsOf(element) < 16; }

/// Registers of a lane as one string of bits.
struct BitString {
  uint8_t bytes[136] = {};

  uint32_t get(unsigned at, unsigned count) const {
    uint64_t value = 0;
    std::memcpy(&value, bytes + at / 8, 5);
    return static_cast<uint32_t>(value >> (at % 8) & ((uint64_t(1) << count) - 1));
  }
  void put(unsigned at, unsigned count, uint32_t value) {
    uint64_t word = 0, mask = ((uint64_t(1) << count) - 1) << (at % 8);
    std::memcpy(&word, bytes + at / 8, 5);
    word = (word & ~mask) | (uint64_t(value) << (at % 8) & mask);
    std::memcpy(bytes + at / 8, &word, 5);
  }
};

void loadRegisters(Warp &warp, const Reg *regs, const Kind *kinds, size_t count, unsigned lane, BitString &to) {
  uint8_t *at = to.bytes;
  for (size_t i = 0; i < count; ++i) {
    unsigned size = sizeOf(kinds[i]);
    std::memcpy(at, warp.registers + regs[i] + size_t(lane) * size, size);
    at += size;
  }
}

uint32_t bitsOfValue(double value, Element type, const uint32_t *random) {
  if (type == Element::F32)
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  const FloatFormat &format = type == Element::F16 ? formatF16 : type == Element::BF16 ? formatBf16 : formatOf(type);
  bool saturate = isSmall(type);
  return random ? encodeStochastic(format, static_cast<float>(value), *random, saturate)
                : encodeFloat(format, value, Rounding::Nearest, saturate);
}

/// 2 to the exponent of a float.
double scaleOf(float scale) {
  auto exponent = static_cast<int>(std::bit_cast<uint32_t>(scale) >> 23 & 255);
  return exponent == 255 ? std::nan("") : std::ldexp(1.0, exponent - 127);
}

/// Bits of the result are collected lane by lane: these conversions are rare.
template <unsigned W> void convertScaled(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  auto number = [&](ScaleNumber n) { return static_cast<int>(x.numbers[n]); };
  auto from = static_cast<Element>(x.numbers[ScaleFrom]), to = static_cast<Element>(x.numbers[ScaleTo]);
  auto first = static_cast<size_t>(number(ScaleFirst));
  unsigned readBits = bitsOf(from), writeBits = bitsOf(to);
  forEachLane(warp.mask, [&](unsigned l) {
    BitString source, result;
    loadRegisters(warp, x.in.data() + first, x.inKinds.data() + first, x.in.size() - first, l, source);
    if (number(ScaleOld) >= 0)
      loadRegisters(warp, x.in.data() + number(ScaleOld), x.inKinds.data() + number(ScaleOld), x.out.size(), l, result);
    uint32_t seed = number(ScaleSeed) >= 0 ? warp.reg<uint32_t>(x.in[number(ScaleSeed)])[l] : 0;
    double scale = scaleOf(warp.reg<float>(x.in[number(ScaleRegister)])[l]);
    for (int e = 0; e < number(ScaleCount); ++e) {
      double value = valueOf(source.get(static_cast<unsigned>(number(ScaleReadBit)) + e * readBits, readBits), from);
      value = isSmall(to) ? value / scale : value * scale;
      // Each element uses its own random bits of the seed.
      uint32_t random = seed << (e * 7 % 32) | (e * 7 % 32 ? seed >> (32 - e * 7 % 32) : 0);
      result.put(static_cast<unsigned>(number(ScaleWriteBit)) + e * writeBits, writeBits,
                 bitsOfValue(value, to, number(ScaleSeed) >= 0 ? &random : nullptr));
    }
    const uint8_t *at = result.bytes;
    for (size_t i = 0; i < x.out.size(); ++i) {
      unsigned size = sizeOf(x.outKinds[i]);
      std::memcpy(warp.registers + x.out[i] + size_t(l) * size, at, size);
      at += size;
    }
  });
}

bool elementOf(llvm::StringRef word, Element &element) {
  static constexpr std::pair<const char *, Element> names[] = {
      {"f32", Element::F32}, {"f16", Element::F16}, {"bf16", Element::BF16}, {"fp8", Element::Fp8},
      {"bf8", Element::Bf8}, {"fp6", Element::Fp6}, {"bf6", Element::Bf6},   {"fp4", Element::Fp4},
  };
  for (auto [name, value] : names)
    if (word == name) {
      element = value;
      return true;
    }
  return false;
}

/// What a name after "cvt.scalef32." says: [sr.] [pk | pk32 | 2xpk16] to from.
struct ScaledName {
  bool stochastic = false, twoSources = false;
  int count = 1;
  Element to = Element::F32, from = Element::F32;
};
bool parseScaledName(llvm::StringRef name, ScaledName &parsed) {
  parsed.stochastic = name.consume_front("sr.");
  if (name.consume_front("2xpk16."))
    parsed.count = 32;
  else if (name.consume_front("pk32."))
    parsed.count = 32;
  else if (name.consume_front("pk."))
    parsed.count = 2;
  auto [to, from] = name.split('.');
  return elementOf(to, parsed.to) && elementOf(from, parsed.from);
}

/// Arguments by type and place: an old value where the result is wider than what is written (its type is the result's),
/// sources, a seed, the scale, and selectors.
void scaledRule(Call &call) {
  Decoder &decoder = call.decoder;
  if (!requireChips(call, chipsCdna4))
    return;
  ScaledName name;
  if (!parseScaledName(shortName(call).drop_front(13), name)) // "cvt.scalef32."
    return decoder.fail(llvm::Twine("unsupported conversion ") + call.name);
  unsigned selectors = 0;
  while (selectors < call.size() && call.call.paramHasAttr(call.size() - 1 - selectors, llvm::Attribute::ImmArg))
    ++selectors;
  unsigned scale = call.size() - 1 - selectors, seed = scale - 1;
  // Old values stand first wherever a part of the result is chosen.
  bool small = isSmall(name.to);
  bool hasOld = selectors && (small || (name.to == Element::F16 && name.count == 1));
  unsigned firstSource = hasOld ? 1 : 0, endSource = name.stochastic ? seed : scale;
  std::vector<int64_t> numbers(ScaleNumbers, 0);
  Regs in{call.reg(scale), name.stochastic ? call.reg(seed) : call.reg(scale)};
  numbers[ScaleRegister] = 0;
  numbers[ScaleSeed] = name.stochastic ? 1 : -1;
  numbers[ScaleOld] = -1;
  if (hasOld) {
    numbers[ScaleOld] = static_cast<int64_t>(in.size());
    Regs old = call.regs(0);
    in.append(old.begin(), old.end());
  }
  numbers[ScaleFirst] = static_cast<int64_t>(in.size());
  for (unsigned argument = firstSource; argument < endSource; ++argument) {
    Regs source = call.regs(argument);
    in.append(source.begin(), source.end());
  }
  numbers[ScaleCount] = name.count;
  numbers[ScaleFrom] = static_cast<int64_t>(name.from);
  numbers[ScaleTo] = static_cast<int64_t>(name.to);
  int64_t last = selectors ? call.constant(call.size() - 1) : 0;
  int64_t written = name.count * bitsOf(name.to), read = name.count * bitsOf(name.from);
  if (small && selectors)
    numbers[ScaleWriteBit] = last * written;
  else if (selectors)
    numbers[ScaleReadBit] = (hasOld ? call.constant(call.size() - 2) : last) * read;
  if (!small && hasOld)
    numbers[ScaleWriteBit] = (last & 1) * 16;
  Op &op = decoder.emitWide(decoder.pick(TILEJIT_BOTH(convertScaled)), call.results(), in);
  decoder.operandsOf(op).numbers = std::move(numbers);
}

} // namespace

void addAmdScaledConversionRules(Rules &rules) { rules.callPrefix("llvm.amdgcn.cvt.scalef32.", scaledRule); }

} // namespace tilejit::sim
